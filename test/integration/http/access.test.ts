import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ROLES } from '../../../src/kernel/identity.ts'
import type { Place } from './document.ts'
import { openApi } from './client.ts'
import type { Answer, ErrorAnswer } from './traffic.ts'
import { EXPECTED_ACCESS, NOT_YET, type Expected } from './expected-access.ts'
import { PASSWORD, sampleOf, toRequest } from './samples.ts'
import { signIn } from './tokens.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

/** What a caller says of itself, and the roles that it has by that. */
const CALLERS: Readonly<
  Record<string, { readonly headers: Record<string, string>; readonly roles: readonly string[] }>
> = {
  ...Object.fromEntries(
    ROLES.map((role) => [
      `the role ${role}`,
      { headers: { 'x-user-id': 'caller', 'x-user-roles': role }, roles: [role] },
    ]),
  ),
  'all roles but admin': {
    headers: { 'x-user-id': 'caller', 'x-user-roles': 'devops, service, auditor' },
    roles: ['devops', 'service', 'auditor'],
  },
  'no roles': { headers: { 'x-user-id': 'caller' }, roles: [] },
  'an empty list of roles': { headers: { 'x-user-id': 'caller', 'x-user-roles': '' }, roles: [] },
  'an unknown role': { headers: { 'x-user-id': 'caller', 'x-user-roles': 'root' }, roles: [] },
  'the name of a role in capitals': {
    headers: { 'x-user-id': 'caller', 'x-user-roles': 'ADMIN' },
    roles: [],
  },
}

const nameOf = ({ method, path }: Place) => `${method} ${path}`

function expectedOf(place: Place): Expected {
  const expected = EXPECTED_ACCESS[nameOf(place)]
  assert.ok(expected, `${nameOf(place)} has no row in expected-access.ts: who may call it?`)
  return expected
}

function assertAdmitted(answer: Answer): void {
  assert.ok(answer.status !== 403, answer.text)
  if (answer.status === 401)
    assert.equal((answer.json() as ErrorAnswer).code, 'invalid_credentials', answer.text)
}

function assertForbidden(answer: Answer): void {
  assert.deepEqual([answer.status, (answer.json() as ErrorAnswer).code], [403, 'forbidden'], answer.text)
}

for (const place of api.places) {
  describe(nameOf(place), () => {
    const call = (headers: Record<string, string>) =>
      api.send({ ...toRequest(place, sampleOf(place)), headers: { ...jsonType(place), ...headers } })

    for (const [name, { headers, roles }] of Object.entries(CALLERS)) {
      test(`${name}: as in expected-access.ts`, async () => {
        const expected = expectedOf(place)
        const mayCall = typeof expected === 'string' || expected.some((role) => roles.includes(role))
        const answer = await call(headers)
        if (mayCall) assertAdmitted(answer)
        else assertForbidden(answer)
      })
    }

    test('without an identity: as in expected-access.ts', async () => {
      const answer = await call({})
      if (expectedOf(place) === 'public') return assertAdmitted(answer)
      assert.deepEqual([answer.status, (answer.json() as ErrorAnswer).code], [401, 'unauthenticated'])
      assert.equal(answer.headers['www-authenticate'], 'Bearer')
    })
  })
}

/** The body of a sample is JSON; without one there is nothing to say about it. */
function jsonType(place: Place): Record<string, string> {
  return sampleOf(place).body ? { 'content-type': 'application/json' } : {}
}

test('every operation of the table exists, except those of a later release', () => {
  const there = api.places.map(nameOf)
  for (const name of Object.keys(EXPECTED_ACCESS)) {
    const later = NOT_YET.some((pattern) => pattern.test(name))
    assert.equal(
      there.includes(name),
      !later,
      later ? `${name} is there: take it out of NOT_YET` : `${name} is missing`,
    )
  }
})

test('users set their own password, with the old one, and not that of another user', async () => {
  const auditor = await signIn(api, ['auditor'])
  const other = await signIn(api, ['auditor'])
  const set = (id: string, body: Record<string, string>) =>
    api.send({
      method: 'PUT',
      path: `/users/${id}/password`,
      body,
      headers: { authorization: `Bearer ${auditor.token}`, 'content-type': 'application/json' },
    })
  const password = 'another brass telescope'
  assertForbidden(await set(other.id, { password, old_password: PASSWORD }))
  assert.equal((await set(auditor.id, { password })).status, 400)
  assert.equal((await set(auditor.id, { password, old_password: 'not the old telescope' })).status, 401)
  assert.equal((await set(auditor.id, { password, old_password: PASSWORD })).status, 204)
  assert.equal(
    (await set(auditor.id, { password, old_password: password })).status,
    401,
    'its token has ended',
  )
})
