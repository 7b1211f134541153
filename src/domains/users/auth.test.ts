import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import type { LogFields, Logger } from '../../kernel/logger.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { Secret } from '../../kernel/secret.ts'
import { createPasswords, type Passwords } from '../../infra/passwords/pbkdf2.ts'
import { createTokens } from '../../infra/tokens/jwt.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import { readOnly } from '../../store/open.ts'
import type { Store } from '../../store/store.ts'
import { fakeClock, type FakeClock } from '../../../test/support/clock.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
import { NO_SESSIONS, usersOf } from '../../../test/support/users.ts'
import { EndedTokens } from './ended-tokens.ts'
import { Auth, type PasswordChange } from './auth.ts'
import { Users } from './service.ts'
import { findAccountByName } from './store.ts'

const PASSWORD = 'a heavy brass telescope'
const HERE = { remoteAddress: '192.0.2.1', requestId: 'request-1' }

function recordingLogger() {
  const lines: string[] = []
  const write = (fields: LogFields, message: string) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`)
  const logger: Logger = { error: write, warn: write, info: write, debug: write, child: () => logger }
  return { logger, lines }
}

function authOn(store: Store, clock: FakeClock, passwords: Passwords, logger: Logger = silentLogger) {
  const tokens = createTokens({
    secrets: [new Secret('0123456789abcdef0123456789abcdef')],
    clock,
    ttlMs: 3_600_000,
  })
  const users = new Users({ store, clock, logger: silentLogger, passwords, sessions: NO_SESSIONS })
  const auth = new Auth({
    store,
    clock,
    logger,
    metrics: noMetrics,
    users,
    passwords,
    tokens,
    ended: new EndedTokens(store.read, clock),
    sessions: NO_SESSIONS,
  })
  return {
    users: usersOf(store, users),
    tokens,
    auth,
    changeOwnPassword: async (id: string, change: PasswordChange) => {
      const prepared = await auth.prepareOwnPassword(id, change, HERE)
      await store.write((tx) => users.setPassword(tx, id, prepared, id))
    },
  }
}

async function world(dialect: DialectName) {
  const clock = fakeClock()
  const { logger, lines } = recordingLogger()
  const { store, ...rest } = await testStore(dialect, clock)
  const made = authOn(store, clock, createPasswords({ iterations: 1, queueLimit: 1_000 }), logger)
  const user = await made.users.create({ name: 'Ada', password: PASSWORD, roles: ['devops'] })
  await made.users.create({ name: 'root', password: PASSWORD, roles: ['admin'] })
  return { ...made, clock, lines, store, user, [Symbol.asyncDispose]: rest[Symbol.asyncDispose] }
}

function hasCode(code: string) {
  return (error: unknown) => error instanceof AppError && error.code === code
}

onEveryDialect('a login', (dialect) => {
  test('with the right password returns a token of the user and records the time', async () => {
    await using w = await world(dialect)
    w.clock.advance(5_400)
    const issued = await w.auth.login({ username: 'aDA', password: PASSWORD }, HERE)
    assert.equal(issued.expiresInSeconds, 3_600)
    assert.equal(issued.user.lastLoginAt, w.clock.now())
    assert.deepEqual(await w.users.get(w.user.id), issued.user)
    const claims = w.tokens.verify(issued.token.reveal())
    assert.deepEqual([claims.userId, claims.roles, claims.generation], [w.user.id, ['devops'], 1])
    assert.equal(claims.expiresAt, issued.expiresAt)
    assert.equal(claims.expiresAt - claims.issuedAt, 3_600_000)
  })

  test('replaces an outdated hash, and the password stays the same', async () => {
    await using w = await world(dialect)
    const stronger = authOn(w.store, w.clock, createPasswords({ iterations: 2 }))
    await stronger.auth.login({ username: 'ada', password: PASSWORD }, HERE)
    const account = await findAccountByName(w.store.read, 'ada')
    assert.match(account?.passwordHash.reveal() ?? '', /^pbkdf2-sha256\$2\$/)
    assert.equal(account?.user.tokenGeneration, 1)
    await stronger.auth.login({ username: 'ada', password: PASSWORD }, HERE)
  })

  test('works while the platform is read-only, without recording the time', async () => {
    await using w = await world(dialect)
    const { auth } = authOn(readOnly(w.store), w.clock, createPasswords({ iterations: 2 }))
    const { user } = await auth.login({ username: 'ada', password: PASSWORD }, HERE)
    assert.equal(user.lastLoginAt, null)
  })

  test('with an impossible name fails', async () => {
    await using w = await world(dialect)
    for (const username of ["' or 1=1 --", '%', 'ada\n', 'ADA '.repeat(50)]) {
      await assert.rejects(
        w.auth.login({ username, password: PASSWORD }, HERE),
        hasCode('invalid_credentials'),
      )
    }
  })
})

describe('a failed login', () => {
  test('is the same error for an unknown name, a wrong password and a disabled user', async () => {
    await using w = await world('sqlite')
    await w.users.create({ name: 'gone', password: PASSWORD, roles: ['devops'] })
    await w.users.change((await w.users.getByName('gone')).id, { enabled: false })
    const errors = []
    for (const [username, password] of [
      ['nobody', PASSWORD],
      ['ada', 'a wrong password'],
      ['gone', PASSWORD],
    ] as const) {
      const error = await w.auth.login({ username, password }, HERE).catch((thrown: AppError) => thrown)
      assert.ok(error instanceof AppError)
      errors.push([error.kind, error.code, error.message, error.details, error.retryAfterSeconds])
    }
    assert.deepEqual(errors[0]?.slice(0, 2), ['unauthenticated', 'invalid_credentials'])
    assert.deepEqual(errors[1], errors[0])
    assert.deepEqual(errors[2], errors[0])
  })

  test('takes one key derivation, for an unknown and for a known name', async () => {
    await using w = await world('sqlite')
    // While the only slot is taken, a login that needs one is refused.
    const busy = createPasswords({ iterations: 1_000_000, concurrency: 1, queueLimit: 0 })
    const { auth } = authOn(w.store, w.clock, busy)
    const running = busy.waste('something')
    for (const username of ['nobody', 'ada']) {
      await assert.rejects(
        auth.login({ username, password: 'a wrong password' }, HERE),
        hasCode('rate_limited'),
      )
    }
    await running
  })

  test('is not counted when the password was not checked', async () => {
    await using w = await world('sqlite')
    const busy = createPasswords({ iterations: 1_000_000, concurrency: 1, queueLimit: 0 })
    const { auth } = authOn(w.store, w.clock, busy)
    const running = busy.waste('something')
    for (let n = 0; n < 20; n++) {
      const error = await auth
        .login({ username: 'nobody', password: 'x' }, HERE)
        .catch((thrown: AppError) => thrown)
      assert.equal(error instanceof AppError && error.retryAfterSeconds, 1)
    }
    await running
  })

  test('is counted: after ten even the right password is refused', async () => {
    await using w = await world('sqlite')
    for (let n = 0; n < 10; n++) {
      await assert.rejects(
        w.auth.login({ username: 'ada', password: `wrong ${n}` }, HERE),
        hasCode('invalid_credentials'),
      )
    }
    await assert.rejects(w.auth.login({ username: 'ada', password: PASSWORD }, HERE), hasCode('rate_limited'))
    await w.auth.login({ username: 'ada', password: PASSWORD }, { ...HERE, remoteAddress: '192.0.2.2' })
    w.clock.advance(300_000)
    await w.auth.login({ username: 'ada', password: PASSWORD }, HERE)
  })

  test('is counted when many are concurrent, too', async () => {
    await using w = await world('sqlite')
    const attempts = Array.from({ length: 50 }, (_, n) =>
      w.auth.login({ username: 'ada', password: `wrong ${n}` }, HERE),
    )
    const codes = (await Promise.allSettled(attempts)).map(
      (each) => each.status === 'rejected' && (each.reason as AppError).code,
    )
    assert.equal(codes.filter((code) => code === 'invalid_credentials').length, 10)
    assert.equal(codes.filter((code) => code === 'rate_limited').length, 40)
  })

  test('is logged with its address and its request, and never with what was typed', async () => {
    await using w = await world('sqlite')
    await w.auth.login({ username: 'typed-secret', password: 'typed-secret' }, HERE).catch(() => undefined)
    await w.auth.login({ username: 'ada', password: 'typed-secret' }, HERE).catch(() => undefined)
    await w.auth.login({ username: 'ada', password: PASSWORD }, HERE)
    assert.deepEqual(w.lines, [
      `login failed {"user_id":null,"remote_address":"${HERE.remoteAddress}","request_id":"request-1"}`,
      `login failed {"user_id":"${w.user.id}","remote_address":"${HERE.remoteAddress}","request_id":"request-1"}`,
      `login succeeded {"user_id":"${w.user.id}","remote_address":"${HERE.remoteAddress}","request_id":"request-1"}`,
    ])
  })
})

describe('one’s own password', () => {
  const change = { oldPassword: PASSWORD, password: 'another brass telescope' }

  test('is changed with the old one', async () => {
    await using w = await world('sqlite')
    await w.changeOwnPassword(w.user.id, change)
    await assert.rejects(
      w.auth.login({ username: 'ada', password: PASSWORD }, HERE),
      hasCode('invalid_credentials'),
    )
    await w.auth.login({ username: 'ada', password: change.password }, HERE)
  })

  test('is not changed when the old one is wrong, and guessing is throttled', async () => {
    await using w = await world('sqlite')
    for (let n = 0; n < 10; n++) {
      const wrong = { ...change, oldPassword: `wrong ${n}` }
      await assert.rejects(w.changeOwnPassword(w.user.id, wrong), hasCode('invalid_credentials'))
    }
    await assert.rejects(w.changeOwnPassword(w.user.id, change), hasCode('rate_limited'))
    assert.equal((await w.users.get(w.user.id)).tokenGeneration, 1)
  })

  test('that an admin sets ends the limit of failed logins, in another process too', async () => {
    await using w = await world('sqlite')
    for (let n = 0; n < 10; n++) {
      const wrong = w.auth.login({ username: 'ada', password: `wrong ${n}` }, HERE)
      await assert.rejects(wrong, hasCode('invalid_credentials'))
    }
    await assert.rejects(w.auth.login({ username: 'ada', password: PASSWORD }, HERE), hasCode('rate_limited'))
    // The limit is counted by `auth`, of which the change knows nothing.
    await w.users.setPassword(w.user.id, change.password)
    await w.auth.login({ username: 'ada', password: change.password }, HERE)
  })

  test('is changed once by two concurrent changes with the same old one', async () => {
    await using w = await world('sqlite')
    const other = { ...change, password: 'a third brass telescope' }
    const outcomes = await Promise.allSettled(
      [change, other].map((each) => w.changeOwnPassword(w.user.id, each)),
    )
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  })
})

describe('a token of the operator', () => {
  test('is issued by name for the requested lifetime', async () => {
    await using w = await world('sqlite')
    const { token, expiresInSeconds } = await w.auth.issueToken('ADA', 60_000)
    assert.equal(expiresInSeconds, 60)
    assert.equal(w.tokens.verify(token.reveal()).userId, w.user.id)
  })

  test('is not issued for a disabled or unknown user', async () => {
    await using w = await world('sqlite')
    await w.users.change(w.user.id, { enabled: false })
    await assert.rejects(w.auth.issueToken('ada'), hasCode('user_disabled'))
    await assert.rejects(w.auth.issueToken('nobody'), hasCode('user_not_found'))
  })
})
