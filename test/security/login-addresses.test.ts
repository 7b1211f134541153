// SECURITY.md, Passwords: whose address a failed login counts for.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openApi, type Api } from '../integration/http/client.ts'

const FAILURES = 10

const trusting = await openApi()
after(() => trusting[Symbol.asyncDispose]())

async function guess(api: Api, username: string, forwardedFor?: string): Promise<number> {
  const { status } = await api.send({
    method: 'POST',
    path: '/auth/login',
    body: { username, password: 'a wrong password' },
    headers: {
      'content-type': 'application/json',
      ...(forwardedFor !== undefined && { 'x-forwarded-for': forwardedFor }),
    },
  })
  return status
}

test('behind a trusted proxy a login counts for the single address in X-Forwarded-For', async () => {
  for (let count = 0; count < FAILURES; count++) assert.equal(await guess(trusting, 'ada', '192.0.2.1'), 401)
  assert.equal(await guess(trusting, 'ada', '192.0.2.1'), 429)
  assert.equal(await guess(trusting, 'ada', '192.0.2.2'), 401, 'another client')
  assert.equal(await guess(trusting, 'ada'), 401, 'the proxy itself')
})

test('behind a trusted proxy a login with a list in X-Forwarded-For counts for the proxy', async () => {
  for (let count = 0; count < FAILURES; count++)
    assert.equal(await guess(trusting, 'grace', `192.0.2.${count}, 198.51.100.1`), 401)
  assert.equal(await guess(trusting, 'grace'), 429)
})

test('from any other peer X-Forwarded-For is ignored', async () => {
  await using api = await openApi({ TRUSTED_PROXIES: '203.0.113.0/24' })
  for (let count = 0; count < FAILURES; count++)
    assert.equal(await guess(api, 'ada', `192.0.2.${count}`), 401)
  assert.equal(await guess(api, 'ada', '192.0.2.200'), 429)
})
