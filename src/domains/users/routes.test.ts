import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Role } from '../../kernel/identity.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { Secret } from '../../kernel/secret.ts'
import { Changes } from '../../infra/http/changes.ts'
import { createIdentify } from '../../infra/http/identity.ts'
import { createHttpServer } from '../../infra/http/server.ts'
import { createPasswords } from '../../infra/passwords/pbkdf2.ts'
import { createTokens } from '../../infra/tokens/jwt.ts'
import { DatabaseIdempotencyKeys } from '../../store/idempotency-keys.ts'
import { readOnly } from '../../store/open.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { testStore } from '../../../test/support/store.ts'
import { NO_SESSIONS, usersOf } from '../../../test/support/users.ts'
import { Users, usersDomain } from './index.ts'

const PASSWORD = 'a heavy brass telescope'
const OTHER_PASSWORD = 'another brass telescope'

async function world(options: { readOnly?: boolean } = {}) {
  const clock = fakeClock()
  await using stack = new AsyncDisposableStack()
  const { store: open } = stack.use(await testStore('sqlite', clock))
  const passwords = createPasswords({ iterations: 1 })
  const tokens = createTokens({
    secrets: [new Secret('0123456789abcdef0123456789abcdef')],
    clock,
    ttlMs: 3_600_000,
  })
  const shared = {
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    passwords,
    tokens,
    sessions: NO_SESSIONS,
    vpnPool: '100.64.0.0/16',
  }
  const admin = await usersOf(open, new Users({ ...shared, store: open })).create({
    name: 'root',
    password: PASSWORD,
    roles: ['admin'],
  })

  const store = options.readOnly ? readOnly(open) : open
  const keys = new DatabaseIdempotencyKeys({
    store,
    clock,
    secrets: [new Secret('a key for request hashes')],
  })
  const { authenticator, routes } = usersDomain.create({ ...shared, store })
  const server = await createHttpServer({
    routes,
    identify: createIdentify({
      authenticator,
      trustedProxies: [{ address: '127.0.0.0', prefixLength: 8, family: 'ipv4' }],
    }),
    changes: new Changes({ store, keys }),
    logger: silentLogger,
    metrics: noMetrics,
    version: '0.0.0',
    readOnly: options.readOnly ?? false,
    rateLimitPerMinute: 0,
  })
  stack.defer(() => server.close())
  const address = await server.listen({ host: '127.0.0.1', port: 0 })

  const call = async (method: string, path: string, { token, body, headers }: CallOptions = {}) => {
    const response = await fetch(`http://${address}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  const login = async (username: string, password = PASSWORD): Promise<string> =>
    (await call('POST', '/auth/login', { body: { username, password } })).body.access_token
  const rootToken = await login('root')
  const add = async (name: string, ...roles: Role[]) =>
    (await call('POST', '/users', { token: rootToken, body: { name, password: PASSWORD, roles } })).body
  const kept = stack.move()
  return { call, login, add, admin, rootToken, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

interface CallOptions {
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

test('a login returns a token, its lifetime and its user, and no hash', async () => {
  await using w = await world()
  const { status, body, text } = await w.call('POST', '/auth/login', {
    body: { username: 'ROOT', password: PASSWORD },
  })
  assert.equal(status, 200)
  assert.deepEqual([body.token_type, body.expires_in], ['Bearer', 3_600])
  assert.deepEqual(Object.keys(body.user).sort(), [
    'created_at',
    'enabled',
    'id',
    'last_login_at',
    'name',
    'roles',
    'updated_at',
  ])
  assert.equal(body.user.last_login_at, '2026-01-31T02:00:00.000Z')
  assert.equal(text.includes('pbkdf2'), false)
  const me = await w.call('GET', '/auth/me', { token: body.access_token })
  assert.deepEqual([me.status, me.body], [200, body.user])
})

test('a failed login is 401 with WWW-Authenticate; one with unknown fields is 400', async () => {
  await using w = await world()
  const failed = await w.call('POST', '/auth/login', { body: { username: 'root', password: 'wrong' } })
  assert.deepEqual([failed.status, failed.body.code], [401, 'invalid_credentials'])
  assert.equal(failed.headers.get('www-authenticate'), 'Bearer')
  const unknown = { username: 'root', password: PASSWORD, remember: true }
  assert.equal((await w.call('POST', '/auth/login', { body: unknown })).status, 400)
})

test('after ten failed logins the response is 429 with Retry-After', async () => {
  await using w = await world()
  const body = { username: 'nobody', password: 'wrong' }
  for (let n = 0; n < 10; n++) assert.equal((await w.call('POST', '/auth/login', { body })).status, 401)
  const throttled = await w.call('POST', '/auth/login', { body })
  assert.deepEqual([throttled.status, throttled.body.code], [429, 'rate_limited'])
  assert.equal(throttled.headers.get('retry-after'), '300')
})

test('GET /auth/me returns the identity of the headers to a local tool that is not a user', async () => {
  await using w = await world()
  const headers = { 'x-user-id': 'notifier', 'x-user-roles': 'service,root' }
  const { status, body } = await w.call('GET', '/auth/me', { headers })
  assert.deepEqual([status, body], [200, { id: 'notifier', name: 'notifier', roles: ['service'] }])
  const asUser = await w.call('GET', '/auth/me', { headers: { 'x-user-id': w.admin.id } })
  assert.equal(asUser.body.created_at, '2026-01-31T02:00:00.000Z')
  assert.equal((await w.call('GET', '/auth/me')).status, 401)
})

test('a user is created, read, listed, changed and deleted', async () => {
  await using w = await world()
  const token = w.rootToken
  const createdUser = await w.call('POST', '/users', {
    token,
    body: { name: 'ada', password: PASSWORD, roles: ['auditor', 'devops'] },
  })
  assert.equal(createdUser.status, 201)
  assert.deepEqual(createdUser.body.roles, ['devops', 'auditor'])
  const path = `/users/${createdUser.body.id}`
  assert.deepEqual((await w.call('GET', path, { token })).body, createdUser.body)
  const list = await w.call('GET', '/users?limit=1', { token })
  assert.deepEqual(list.body.items, [createdUser.body])
  assert.equal(
    (await w.call('GET', `/users?cursor=${list.body.next_cursor}`, { token })).body.items[0].name,
    'root',
  )
  const changed = await w.call('PATCH', path, { token, body: { enabled: false } })
  assert.deepEqual([changed.status, changed.body.enabled], [200, false])
  const removed = await w.call('DELETE', path, { token })
  assert.deepEqual([removed.status, removed.text], [204, ''])
  assert.equal((await w.call('GET', path, { token })).body.code, 'user_not_found')
})

test('an invalid new user is refused, and the error names the field', async () => {
  await using w = await world()
  await w.add('ada', 'devops')
  const good = { name: 'grace', password: PASSWORD, roles: ['devops'] }
  const refused = async (body: object) => {
    const answer = await w.call('POST', '/users', { token: w.rootToken, body: { ...good, ...body } })
    return [answer.status, answer.body.code, answer.body.details?.[0]?.path]
  }
  assert.deepEqual(await refused({ name: 'ADA' }), [409, 'user_exists', undefined])
  assert.deepEqual(await refused({ name: 'a b' }), [400, 'validation_failed', 'name'])
  assert.deepEqual(await refused({ roles: [] }), [400, 'validation_failed', 'roles'])
  assert.deepEqual(await refused({ roles: ['root'] }), [400, 'validation_failed', 'roles.0'])
  assert.deepEqual(await refused({ password: 'short' }), [400, 'validation_failed', 'password'])
  assert.deepEqual(await refused({ password: 'x'.repeat(257) }), [400, 'validation_failed', 'password'])
  assert.deepEqual(await refused({ password: 'password1234' }), [400, 'validation_failed', 'password'])
  assert.deepEqual(await refused({ password_hash: 'x' }), [400, 'validation_failed', 'password_hash'])
  assert.deepEqual(await refused({ enabled: false }), [400, 'validation_failed', 'enabled'])
})

test('only admins administer users', async () => {
  await using w = await world()
  const { id } = await w.add('ada', 'devops', 'service', 'auditor')
  const token = await w.login('ada')
  const calls: readonly (readonly [string, string, unknown?])[] = [
    ['GET', '/users'],
    ['POST', '/users', { name: 'grace', password: PASSWORD, roles: ['admin'] }],
    ['GET', `/users/${id}`],
    ['PATCH', `/users/${id}`, { roles: ['admin'] }],
    ['DELETE', `/users/${id}`],
    ['PUT', `/users/${w.admin.id}/password`, { password: OTHER_PASSWORD, old_password: PASSWORD }],
  ]
  for (const [method, path, body] of calls) {
    const forbidden = await w.call(method, path, { token, ...(body !== undefined && { body }) })
    assert.deepEqual([forbidden.status, forbidden.body.code], [403, 'forbidden'], `${method} ${path}`)
    const unknown = await w.call(method, path, body === undefined ? {} : { body })
    assert.equal(unknown.status, 401, `${method} ${path}`)
  }
})

test('every caller reads the names of ids, and nothing else of the users', async () => {
  await using w = await world()
  const eve = await w.add('eve', 'service')
  const gone = '00000000-0000-7000-8000-000000000000'
  const token = await w.login('eve')
  const names = await w.call('GET', `/users/names?ids=${w.admin.id},${gone},${eve.id}`, { token })
  assert.equal(names.status, 200)
  assert.deepEqual(
    new Map(names.body.items.map(Object.values)),
    new Map([
      [w.admin.id, 'root'],
      [eve.id, 'eve'],
    ]),
  )
  const tooMany = await w.call('GET', `/users/names?ids=${Array(51).fill(gone).join(',')}`, { token })
  assert.deepEqual([tooMany.status, tooMany.body.code], [400, 'validation_failed'])
})

test('the last admin can be neither disabled, demoted nor deleted', async () => {
  await using w = await world()
  const path = `/users/${w.admin.id}`
  for (const [method, body] of [
    ['PATCH', { enabled: false }],
    ['PATCH', { roles: ['devops'] }],
    ['DELETE', undefined],
  ] as const) {
    const answer = await w.call(method, path, { token: w.rootToken, ...(body && { body }) })
    assert.deepEqual([answer.status, answer.body.code], [409, 'last_admin'])
  }
})

test('a disabled user’s next request is 401', async () => {
  await using w = await world()
  const { id } = await w.add('ada', 'devops')
  const token = await w.login('ada')
  assert.equal((await w.call('GET', '/auth/me', { token })).status, 200)
  await w.call('PATCH', `/users/${id}`, { token: w.rootToken, body: { enabled: false } })
  assert.equal((await w.call('GET', '/auth/me', { token })).status, 401)
})

test('users change their own password with the old one, admins that of others without it', async () => {
  await using w = await world()
  const { id } = await w.add('ada', 'devops')
  const token = await w.login('ada')
  const set = (caller: string, body: object) =>
    w.call('PUT', `/users/${id}/password`, { token: caller, body })
  const missing = await set(token, { password: OTHER_PASSWORD })
  assert.deepEqual([missing.status, missing.body.details[0].path], [400, 'old_password'])
  const wrong = await set(token, { password: OTHER_PASSWORD, old_password: 'wrong' })
  assert.deepEqual([wrong.status, wrong.body.code], [401, 'invalid_credentials'])
  assert.equal((await set(token, { password: OTHER_PASSWORD, old_password: PASSWORD })).status, 204)
  assert.equal((await w.call('GET', '/auth/me', { token })).status, 401)
  assert.equal((await w.call('GET', '/auth/me', { token: await w.login('ada', OTHER_PASSWORD) })).status, 200)
  assert.equal((await set(w.rootToken, { password: PASSWORD })).status, 204)
  await w.login('ada')
  const own = await w.call('PUT', `/users/${w.admin.id}/password`, {
    token: w.rootToken,
    body: { password: OTHER_PASSWORD },
  })
  assert.equal(own.status, 400)
})

test('two requests with the same Idempotency-Key create one user', async () => {
  await using w = await world()
  const request = {
    token: w.rootToken,
    body: { name: 'ada', password: PASSWORD, roles: ['devops'] },
    headers: { 'idempotency-key': 'k1' },
  }
  const [first, second] = [await w.call('POST', '/users', request), await w.call('POST', '/users', request)]
  assert.deepEqual([first.status, second.status], [201, 201])
  assert.deepEqual(second.body, first.body)
})

test('while the platform is read-only a login works and a change is refused', async () => {
  await using w = await world({ readOnly: true })
  const { status, body } = await w.call('POST', '/auth/login', {
    body: { username: 'root', password: PASSWORD },
  })
  assert.deepEqual([status, body.user.last_login_at], [200, null])
  const refused = await w.call('POST', '/users', {
    token: body.access_token,
    body: { name: 'ada', password: PASSWORD, roles: ['devops'] },
  })
  assert.deepEqual([refused.status, refused.body.code], [503, 'read_only'])
})
