import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import type { Identity } from '../../kernel/identity.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { Secret } from '../../kernel/secret.ts'
import { createPasswords } from '../../infra/passwords/pbkdf2.ts'
import { createTokens } from '../../infra/tokens/jwt.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import type { Queries } from '../../store/store.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
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
  const tokens = createTokens({ secret: new Secret(SECRET), clock, ttlMs: HOUR })
  const serviceOfAProcess = () =>
    usersOf(store, new Users({ store, clock, logger: silentLogger, passwords, sessions: NO_SESSIONS }))
  const users = serviceOfAProcess()
  const reads = switchable(store.read)
  const authenticator = createAuthenticator({ store: { read: reads.queries }, clock, users, tokens, limit })
  await users.create({ name: 'root', password: PASSWORD, roles: ['admin'] })
  const user = await users.create({ name: 'ada', password: PASSWORD, roles: ['devops', 'auditor'] })
  const sign = async ({ id: userId, name, roles, tokenGeneration: generation } = user) =>
    (await tokens.sign({ userId, name, roles, generation })).token
  return {
    clock,
    users,
    user,
    authenticator,
    sign,
    reads,
    anotherProcess: serviceOfAProcess(),
    [Symbol.asyncDispose]: rest[Symbol.asyncDispose],
  }
}

/** A read handle whose answers can be held back, or refused. */
function switchable(queries: Queries) {
  let gate: Promise<void> | undefined
  let reached = () => {}
  let failure: Error | undefined
  return {
    queries: {
      ...queries,
      run: async (...call: Parameters<Queries['run']>) => {
        if (failure) throw failure
        const rows = await queries.run(...call)
        reached()
        await gate
        return rows
      },
    } as Queries,
    /** From now on answers wait for `release`; `held` resolves when one does. */
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

/** A token as another program signs it with the same secret: without a generation. */
function foreignToken(claims: object): string {
  const input = [{ alg: 'HS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${input}.${createHmac('sha256', SECRET).update(input).digest('base64url')}`
}

const isUnauthenticated = (error: unknown) => error instanceof AppError && error.code === 'unauthenticated'

/** Judged either way: thrown at once or rejected later. */
async function judge(run: () => Identity | Promise<Identity>): Promise<Identity> {
  return run()
}

onEveryDialect('a token', (dialect) => {
  test('tells who holds it', async () => {
    await using w = await world(dialect)
    const token = await w.sign()
    const identity = { id: w.user.id, name: 'ada', roles: ['devops', 'auditor'], via: 'token' }
    assert.deepEqual(await w.authenticator.authenticate(token), identity)
    const issuedAt = w.clock.now()
    const times = { issuedAt, expiresAt: issuedAt + HOUR }
    assert.deepEqual(await w.authenticator.holder(token), { identity, generation: 1, ...times })
  })

  test('ends at once with any change that this process makes', async () => {
    await using w = await world(dialect)
    const changes: Record<string, (id: string) => Promise<unknown>> = {
      'other-roles': (id) => w.users.change(id, { roles: ['service'] }),
      'new-password': (id) => w.users.setPassword(id, 'another brass telescope'),
      disabled: (id) => w.users.change(id, { enabled: false }),
      deleted: (id) => w.users.remove(id),
    }
    for (const [name, change] of Object.entries(changes)) {
      const user = await w.users.create({ name, password: PASSWORD, roles: ['devops'] })
      const token = await w.sign(user)
      await w.authenticator.authenticate(token)
      await change(user.id)
      await assert.rejects(
        judge(() => w.authenticator.authenticate(token)),
        isUnauthenticated,
        name,
      )
      await assert.rejects(w.authenticator.holder(token), isUnauthenticated, name)
    }
  })

  test('that was issued after the change is good', async () => {
    await using w = await world(dialect)
    await w.users.setPassword(w.user.id, 'another brass telescope')
    await w.authenticator.authenticate(await w.sign(await w.users.get(w.user.id)))
  })
})

test('a token that was seen is known without waiting', async () => {
  await using w = await world()
  const token = await w.sign()
  await w.authenticator.authenticate(token)
  assert.equal(w.authenticator.authenticate(token) instanceof Promise, false)
})

test('a change by another process ends a token within ten seconds', async () => {
  await using w = await world()
  const token = await w.sign()
  await w.authenticator.authenticate(token)
  await w.anotherProcess.change(w.user.id, { enabled: false })
  w.clock.advance(10_000)
  await assert.rejects(
    judge(() => w.authenticator.authenticate(token)),
    isUnauthenticated,
  )
})

test('a deletion by another process ends a token that is in constant use', async () => {
  await using w = await world()
  const token = await w.sign()
  await w.authenticator.authenticate(token)
  await w.anotherProcess.remove(w.user.id)
  let refusedAfter = 0
  for (let second = 1; second <= 10 && refusedAfter === 0; second++) {
    w.clock.advance(1_000)
    await judge(() => w.authenticator.authenticate(token)).catch(() => (refusedAfter = second))
  }
  assert.ok(refusedAfter > 0 && refusedAfter <= 10)
})

test('a token that was seen ends at its very time', async () => {
  await using w = await world()
  const token = await w.sign()
  await w.authenticator.authenticate(token)
  w.clock.advance(HOUR - 1)
  await w.authenticator.authenticate(token)
  w.clock.advance(1)
  await assert.rejects(
    judge(() => w.authenticator.authenticate(token)),
    isUnauthenticated,
  )
})

test('a user who was read while being changed is read again', async () => {
  await using w = await world()
  const token = await w.sign()
  const { held, release } = w.reads.hold()
  const pending = judge(() => w.authenticator.authenticate(token))
  await held
  await w.users.change(w.user.id, { enabled: false })
  release()
  await assert.rejects(pending, isUnauthenticated)
})

test('when the store is away nobody is let in, and nothing is held against the token', async () => {
  await using w = await world()
  const token = await w.sign()
  await w.authenticator.authenticate(token)
  w.clock.advance(5_000)
  w.reads.fail(new AppError('unavailable', 'store_unavailable', 'The database is away.'))
  await assert.rejects(
    judge(() => w.authenticator.authenticate(token)),
    (error) => error instanceof AppError && error.code === 'store_unavailable',
  )
  w.reads.fail(undefined)
  await judge(() => w.authenticator.authenticate(token))
})

test('a token of a user who never was is refused', async () => {
  await using w = await world()
  const iat = w.clock.now() / 1_000
  const claims = { sub: 'nobody', name: 'nobody', roles: ['admin'], iss: 'platform', iat, exp: iat + 60 }
  await assert.rejects(
    judge(() => w.authenticator.authenticate(foreignToken(claims))),
    isUnauthenticated,
  )
})

test('a token without a generation is judged by when it was issued', async () => {
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
    judge(() => w.authenticator.authenticate(issuedAt(created - 1))),
    isUnauthenticated,
  )
  w.clock.advance(60_000)
  await w.users.setPassword(w.user.id, 'another brass telescope')
  await assert.rejects(
    judge(() => w.authenticator.authenticate(issuedAt(created + 59))),
    isUnauthenticated,
  )
  await w.authenticator.authenticate(issuedAt(created + 60))
})

test('only so many tokens are remembered, and the oldest is looked at again', async () => {
  await using w = await world('sqlite', 2)
  const tokens = [await w.sign(), await w.sign(), await w.sign()]
  for (const token of tokens) await w.authenticator.authenticate(token)
  const answers = tokens.map((token) => w.authenticator.authenticate(token))
  assert.deepEqual(
    answers.map((answer) => answer instanceof Promise),
    [true, false, false],
  )
  await Promise.all(answers.filter((answer) => answer instanceof Promise))
})

test('a forged token is refused however often it comes', async () => {
  await using w = await world()
  const token = (await w.sign()).slice(0, -2)
  for (let n = 0; n < 3; n++)
    await assert.rejects(
      judge(() => w.authenticator.authenticate(token)),
      isUnauthenticated,
    )
})
