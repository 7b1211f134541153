import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { HOUR, MINUTE } from '../../kernel/time.ts'
import { doctorWorld } from '../../../test/support/doctor.ts'

const NOTHING_NEW = { revision: 5, full: false, more: false, pool: '100.65.0.0/16', items: [] }

const CURRENT = { token: 'a.valid.token', status: 200, body: JSON.stringify(NOTHING_NEW) }

/** A standby whose primary answers with that status; 0 is no answer. */
async function world(t: TestContext, situation: Partial<typeof CURRENT> = {}) {
  const { token, status, body } = { ...CURRENT, ...situation }
  const w = doctorWorld(t)
  await w.migrate()
  const server = createServer((_request, response) => {
    if (status === 0) response.destroy()
    else response.writeHead(status).end(body)
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const tokenFile = join(w.dataDir, 'mirror-token')
  writeFileSync(tokenFile, token, { mode: 0o600 })
  const env = {
    MODULE: 'gateway',
    GATEWAY_MIRROR_FROM: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    GATEWAY_MIRROR_TOKEN_FILE: tokenFile,
  }
  return {
    copiedAt(at: number) {
      using database = new DatabaseSync(join(w.dataDir, 'platform.db'))
      database.prepare('update user_mirrors set revision = 5, confirmed_at = ?').run(at)
    },
    examine: async () => (await w.examine(env)).of('standby').map(({ result, detail }) => [result, detail]),
  }
}

test('a standby with a current copy is fine', async (t) => {
  const { copiedAt, examine } = await world(t)
  copiedAt(Date.now())
  const [token, primary, pools, copy] = await examine()
  assert.deepEqual(token, ['ok', 'contains a token'])
  assert.deepEqual(primary, ['ok', 'answers with its users'])
  assert.deepEqual(pools, ['ok', 'does not overlap 100.65.0.0/16 of the primary'])
  assert.equal(copy?.[0], 'ok')
})

test('a copy that is not renewed is a warning', async (t) => {
  const { copiedAt, examine } = await world(t)
  copiedAt(Date.now() - 2 * MINUTE)
  assert.equal((await examine()).at(-1)?.[0], 'warning')
})

test('a pool that overlaps the pool of the primary is an error', async (t) => {
  const { examine } = await world(t, { body: JSON.stringify({ ...NOTHING_NEW, pool: '100.64.128.0/17' }) })
  assert.deepEqual((await examine())[2], ['error', 'overlaps 100.64.128.0/17 of the primary'])
})

test('an answer that cannot be read is an error', async (t) => {
  const { examine } = await world(t, { body: '{"revision":5' })
  assert.deepEqual((await examine())[1], ['error', 'the answer of the primary cannot be read'])
})

test('a primary that is away is a warning, a copy that is too old an error', async (t) => {
  const { copiedAt, examine } = await world(t, { status: 0 })
  copiedAt(Date.now() - 7 * HOUR)
  const [, primary, copy] = await examine()
  assert.deepEqual(primary, ['warning', 'the primary does not answer'])
  assert.equal(copy?.[0], 'error')
  assert.match(copy?.[1] ?? '', /^was current 25\d\d\d s ago, at \d{4}-.*: no new session is accepted$/)
})

for (const [status, reason] of [
  [401, /does not accept the token/],
  [403, /not issued with --purpose mirror/],
] as const)
  test(`a primary that answers ${status} is an error with its reason`, async (t) => {
    const { examine } = await world(t, { status })
    const [, primary, copy] = await examine()
    assert.equal(primary?.[0], 'error')
    assert.match(primary?.[1] ?? '', reason)
    assert.deepEqual(copy, ['skipped', 'is made by the first start'])
  })

test('a file without a token is an error that names the setting', async (t) => {
  const { examine } = await world(t, { token: 'not a token' })
  const [token, ...others] = await examine()
  assert.equal(token?.[0], 'error')
  assert.match(token?.[1] ?? '', /gateway\.mirror_token_file: expected a token/)
  assert.equal(others.length, 1)
})
