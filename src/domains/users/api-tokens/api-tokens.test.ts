import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../../test/support/clock.ts'
import { onEveryDialect, testStore } from '../../../../test/support/store.ts'
import { NO_SESSIONS, usersOf } from '../../../../test/support/users.ts'
import { createPasswords } from '../../../infra/passwords/pbkdf2.ts'
import { AppError } from '../../../kernel/errors.ts'
import type { Identity } from '../../../kernel/identity.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { DAY, MINUTE, SECOND } from '../../../kernel/time.ts'
import type { DialectName } from '../../../store/dialects/capabilities.ts'
import { Users } from '../service.ts'
import { MAX_TOKENS, type NewApiToken } from './model.ts'
import { ApiTokens } from './service.ts'
import { hashToken } from './token-text.ts'

const ADMIN: Identity = { id: 'root-1', name: 'root', roles: ['admin'], via: 'headers' }

async function world(dialect: DialectName) {
  const clock = fakeClock()
  await using stack = new AsyncDisposableStack()
  const { store } = stack.use(await testStore(dialect, clock))
  const shared = { store, clock, logger: silentLogger, sessions: NO_SESSIONS }
  const service = new Users({ ...shared, passwords: createPasswords({ iterations: 1 }) })
  const users = usersOf(store, service)
  const tokens = new ApiTokens({ ...shared, users: service })
  const { id } = await users.create({
    name: 'ada',
    password: 'a heavy brass telescope',
    roles: ['devops', 'auditor'],
  })
  const kept = stack.move()
  return {
    clock,
    users,
    tokens,
    ada: id,
    create: (wanted: Partial<NewApiToken> = {}, by = ADMIN) =>
      store.write((tx) => tokens.create(tx, id, { name: 'cash desk', ...wanted }, by)),
    revoke: (tokenId: string) => store.write((tx) => tokens.revoke(tx, id, tokenId, ADMIN.id)),
    list: async () => (await tokens.list(id, { limit: 1_000 })).items,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const isCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

onEveryDialect('an API token', (dialect) => {
  test('is found by its hash until it is revoked', async () => {
    await using w = await world(dialect)
    const { id, token } = await w.create({ roles: ['auditor'] })
    const hash = hashToken(token.reveal())
    assert.deepEqual((await w.tokens.find(hash))?.roles, ['auditor'])
    await w.revoke(id)
    assert.equal(await w.tokens.find(hash), undefined)
    await assert.rejects(w.revoke(id), isCode('token_not_found'))
  })

  test('that was revoked makes no other one, although a process may still accept it', async () => {
    await using w = await world(dialect)
    const { id, expiresAt } = await w.create()
    const by: Identity = { ...ADMIN, id: w.ada, token: { kind: 'api', id, expiresAt } }
    assert.equal((await w.create({}, by)).expiresAt, expiresAt)
    await w.revoke(id)
    await assert.rejects(w.create({}, by), isCode('unauthenticated'))
  })

  test('has its use recorded at most once a minute', async () => {
    await using w = await world(dialect)
    const { id } = await w.create()
    const used = async () => {
      const [token] = await w.list()
      return [token?.lastUsedAt, token?.lastUsedFrom]
    }
    const first = w.clock.now()
    await w.tokens.recordUse(id, '192.0.2.1')
    w.clock.advance(59 * SECOND)
    await w.tokens.recordUse(id, '192.0.2.2')
    assert.deepEqual(await used(), [first, '192.0.2.1'])
    w.clock.advance(SECOND)
    await w.tokens.recordUse(id, '192.0.2.3')
    assert.deepEqual(await used(), [first + MINUTE, '192.0.2.3'])
  })

  test('counts among 100 of its user until it expires, and is listed for 30 days more', async () => {
    await using w = await world(dialect)
    for (let made = 0; made < MAX_TOKENS; made++) await w.create({ expiresInMs: DAY })
    await assert.rejects(w.create(), isCode('too_many_tokens'))
    w.clock.advance(DAY)
    await w.create()
    assert.equal((await w.list()).length, MAX_TOKENS + 1)
    w.clock.advance(30 * DAY + 1)
    await w.create()
    assert.equal((await w.list()).length, 2)
  })
})
