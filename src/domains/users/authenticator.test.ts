import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import type { Identity } from '../../kernel/identity.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { Secret } from '../../kernel/secret.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import { createPasswords } from '../../infra/passwords/pbkdf2.ts'
import { createTokens } from '../../infra/tokens/jwt.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import type { Queries } from '../../store/store.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
import type { ApiToken } from './api-tokens/model.ts'
import { newTokenText } from './api-tokens/token-text.ts'
import { createAuthenticator } from './authenticator.ts'
import { NO_SESSIONS, usersOf } from '../../../test/support/users.ts'
import { Users } from './service.ts'

const SECRET = '0123456789abcdef0123456789abcdef'
const PASSWORD = 'a heavy brass telescope'
const HOUR = 3_600_000

async function world(dialect: DialectName = 'sqlite', limit = 100) {
  const clock = fakeClock()
  const { store, ...rest } = await testStore(dialect, clock)
  const passwords = createPasswords({ iterations: 1 })
  const tokens = createTokens({ secrets: [new Secret(SECRET)], clock, ttlMs: HOUR })
  const verified: string[] = []
  const verify = (token: string) => {
    verified.push(token)
    return tokens.verify(token)
  }
  const serviceOfAProcess = () =>
    usersOf(store, new Users({ store, clock, logger: silentLogger, passwords, sessions: NO_SESSIONS }))
  const users = serviceOfAProcess()
  const reads = switchable(store.read)
  const apiTokens: ApiToken[] = []
  const warnings: object[] = []
  const authenticator = createAuthenticator({
    store: { read: reads.queries },
    clock,
    logger: { warn: (fields) => void warnings.push(fields) },
    users,
    apiTokens: { find: async () => apiTokens[0], recordUse: async () => undefined },
    ended: { isFresh: true, has: () => false, refresh: async () => undefined },
    tokens: { verify },
    limit,
  })
  await users.create({ name: 'root', password: PASSWORD, roles: ['admin'] })
  const user = await users.create({ name: 'ada', password: PASSWORD, roles: ['devops', 'auditor'] })
  const sign = ({ id: userId, name, roles, tokenGeneration: generation } = user) =>
    tokens.sign({ userId, name, roles, generation }).token
  return {
    clock,
    users,
    user,
    apiTokens,
    warnings,
    authenticator,
    sign,
    /** The tokens whose signature was verified, because they were not cached. */
    verified,
    reads,
    anotherProcess: serviceOfAProcess(),
    [Symbol.asyncDispose]: rest[Symbol.asyncDispose],
  }
}

/** A read handle whose results can be delayed, or replaced by an error. */
function switchable(queries: Queries) {
  let gate: Promise<void> | undefined
  let reached = () => {}
  let failure: Error | undefined
  let count = 0
  return {
    count: () => count,
    queries: {
      ...queries,
      run: async (...call: Parameters<Queries['run']>) => {
        count++
        if (failure) throw failure
        const rows = await queries.run(...call)
        reached()
        await gate
        return rows
      },
    } as Queries,
    /** Delays results until `release`; `held` resolves when the first one is delayed. */
    hold() {
      const [open, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      gate = open.promise
      reached = held.resolve
      const release = () => {
        gate = undefined
        open.resolve()
      }
      return { held: held.promise, release }
    },
    fail(error: Error | undefined) {
      failure = error
    },
  }
}

/** A token as another program signs it with the same secret, without a generation. */
function foreignToken(claims: object): string {
  const input = [{ alg: 'HS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${input}.${createHmac('sha256', SECRET).update(input).digest('base64url')}`
}

const isUnauthenticated = (error: unknown) => error instanceof AppError && error.code === 'unauthenticated'

/** Turns a synchronous error into a rejection. */
async function attempt(run: () => Identity | Promise<Identity>): Promise<Identity> {
  return run()
}

function jtiOf(token: string): string {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
  return (JSON.parse(payload) as { jti: string }).jti
}

onEveryDialect('a token', (dialect) => {
  test('identifies its user', async () => {
    await using w = await world(dialect)
    const token = w.sign()
    const issuedAt = w.clock.now()
    const times = { issuedAt, expiresAt: issuedAt + HOUR }
    const caller = { id: w.user.id, name: 'ada', roles: ['devops', 'auditor'], via: 'token' }
    const session = { kind: 'session', id: jtiOf(token), expiresAt: times.expiresAt }
    const identity = { ...caller, token: session }
    assert.deepEqual(await w.authenticator.authenticate(token), identity)
    assert.deepEqual(await w.authenticator.holder(token), { identity, generation: 1, ...times })
  })

  test('is revoked immediately by every change in this process', async () => {
    await using w = await world(dialect)
    const changes: Record<string, (id: string) => Promise<unknown>> = {
      'other-roles': (id) => w.users.change(id, { roles: ['service'] }),
      'new-password': (id) => w.users.setPassword(id, 'another brass telescope'),
      disabled: (id) => w.users.change(id, { enabled: false }),
      deleted: (id) => w.users.remove(id),
    }
    for (const [name, change] of Object.entries(changes)) {
      const user = await w.users.create({ name, password: PASSWORD, roles: ['devops'] })
      const token = w.sign(user)
      await w.authenticator.authenticate(token)
      await change(user.id)
      await assert.rejects(
        attempt(() => w.authenticator.authenticate(token)),
        isUnauthenticated,
        name,
      )
      await assert.rejects(w.authenticator.holder(token), isUnauthenticated, name)
    }
  })

  test('issued after the change is accepted', async () => {
    await using w = await world(dialect)
    await w.users.setPassword(w.user.id, 'another brass telescope')
    await w.authenticator.authenticate(w.sign(await w.users.get(w.user.id)))
  })
})

test('a token of a cached user is accepted synchronously, and verified once', async () => {
  await using w = await world()
  const [first, second] = [w.sign(), w.sign()]
  await w.authenticator.authenticate(first)
  for (const token of [first, second, second])
    assert.equal(w.authenticator.authenticate(token) instanceof Promise, false)
  assert.deepEqual(w.verified, [first, second])
})

test('an API token that has expired is refused, and named in the log once an hour', async () => {
  await using w = await world()
  const expiresAt = w.clock.now() + HOUR
  const times = { createdAt: w.clock.now(), expiresAt, lastUsedAt: null, lastUsedFrom: null }
  w.apiTokens.push({ id: 't-1', userId: w.user.id, name: 'the scanner', roles: null, ...times })
  const text = newTokenText()
  await w.authenticator.authenticate(text)
  assert.deepEqual(w.warnings, [])
  w.clock.advance(HOUR)
  const use = async () =>
    assert.rejects(async () => w.authenticator.authenticate(text), { code: 'unauthenticated' })
  await use()
  await use()
  const reason = 'it has expired'
  const named = { id: 't-1', name: 'the scanner', user: 'ada', expires_at: toRfc3339(expiresAt), reason }
  assert.deepEqual(w.warnings, [named])
  w.clock.advance(HOUR)
  await use()
  assert.equal(w.warnings.length, 2)
})

test('parallel first requests of a user share one read', async () => {
  await using w = await world()
  const { held, release } = w.reads.hold()
  const pending = [w.sign(), w.sign()].map((token) => w.authenticator.holder(token))
  await held
  release()
  await Promise.all(pending)
  assert.equal(w.reads.count(), 1)
})

test('a change by another process revokes a token within ten seconds', async () => {
  await using w = await world()
  const token = w.sign()
  await w.authenticator.authenticate(token)
  await w.anotherProcess.change(w.user.id, { enabled: false })
  w.clock.advance(10_000)
  await assert.rejects(
    attempt(() => w.authenticator.authenticate(token)),
    isUnauthenticated,
  )
})

test('a token issued after a change by another process is accepted at once', async () => {
  await using w = await world()
  await w.authenticator.authenticate(w.sign())
  await w.anotherProcess.change(w.user.id, { roles: ['service'] })
  const token = w.sign(await w.anotherProcess.get(w.user.id))
  assert.deepEqual((await w.authenticator.authenticate(token)).roles, ['service'])
})

test('a deletion by another process revokes a token in constant use', async () => {
  await using w = await world()
  const token = w.sign()
  await w.authenticator.authenticate(token)
  await w.anotherProcess.remove(w.user.id)
  let refusedAfter = 0
  for (let second = 1; second <= 10 && refusedAfter === 0; second++) {
    w.clock.advance(1_000)
    await attempt(() => w.authenticator.authenticate(token)).catch(() => (refusedAfter = second))
  }
  assert.ok(refusedAfter > 0 && refusedAfter <= 10)
})

test('a cached token expires on time', async () => {
  await using w = await world()
  const token = w.sign()
  await w.authenticator.authenticate(token)
  w.clock.advance(HOUR - 1)
  await w.authenticator.authenticate(token)
  w.clock.advance(1)
  await assert.rejects(
    attempt(() => w.authenticator.authenticate(token)),
    isUnauthenticated,
  )
})

test('a user who is changed during a read is read again', async () => {
  await using w = await world()
  const token = w.sign()
  const { held, release } = w.reads.hold()
  const pending = attempt(() => w.authenticator.authenticate(token))
  await held
  await w.users.change(w.user.id, { enabled: false })
  release()
  await assert.rejects(pending, isUnauthenticated)
})

test('while the store is unavailable no token is accepted, and afterwards the same token is', async () => {
  await using w = await world()
  const token = w.sign()
  await w.authenticator.authenticate(token)
  w.clock.advance(5_000)
  w.reads.fail(new AppError('unavailable', 'store_unavailable', 'The database is unavailable.'))
  await assert.rejects(
    attempt(() => w.authenticator.authenticate(token)),
    (error) => error instanceof AppError && error.code === 'store_unavailable',
  )
  w.reads.fail(undefined)
  await attempt(() => w.authenticator.authenticate(token))
})

test('a token of an unknown user is refused', async () => {
  await using w = await world()
  const iat = w.clock.now() / 1_000
  const claims = { sub: 'nobody', name: 'nobody', roles: ['admin'], iss: 'platform', iat, exp: iat + 60 }
  await assert.rejects(
    attempt(() => w.authenticator.authenticate(foreignToken(claims))),
    isUnauthenticated,
  )
})

test('a token without a generation is accepted when it was issued after the last revocation', async () => {
  await using w = await world()
  const issuedAt = (iat: number) =>
    foreignToken({
      sub: w.user.id,
      name: 'x\r\ny',
      roles: ['root', 'service'],
      iss: 'platform',
      iat,
      exp: iat + 600,
    })
  const created = w.clock.now() / 1_000
  assert.deepEqual(await w.authenticator.authenticate(issuedAt(created)), {
    id: w.user.id,
    name: 'ada',
    roles: ['service'],
    via: 'token',
  })
  await assert.rejects(
    attempt(() => w.authenticator.authenticate(issuedAt(created - 1))),
    isUnauthenticated,
  )
  w.clock.advance(60_000)
  await w.users.setPassword(w.user.id, 'another brass telescope')
  await assert.rejects(
    attempt(() => w.authenticator.authenticate(issuedAt(created + 60))),
    isUnauthenticated,
  )
  await w.authenticator.authenticate(issuedAt(created + 61))
})

test('a full cache evicts the token that was used least recently', async () => {
  await using w = await world('sqlite', 2)
  const [oldest, used, newest] = [w.sign(), w.sign(), w.sign()]
  for (const token of [oldest, used, newest, used, newest, oldest]) await w.authenticator.authenticate(token)
  assert.deepEqual(w.verified, [oldest, used, newest, oldest])
})

test('a forged token is refused each time', async () => {
  await using w = await world()
  const token = w.sign().slice(0, -2)
  for (let n = 0; n < 3; n++)
    await assert.rejects(
      attempt(() => w.authenticator.authenticate(token)),
      isUnauthenticated,
    )
})
