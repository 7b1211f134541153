import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { openSession } from '../gateway/socket.ts'
import { assertRefused, openApi, type Api } from './client.ts'

const PASSWORD = 'a heavy brass telescope'
const DAY_MS = 86_400_000

interface Token {
  readonly id: string
  readonly token: string | null
  readonly roles: readonly string[]
  readonly created_at: string
  readonly expires_at: string
  readonly last_used_at: string | null
  readonly last_used_from: string | null
}

let api: Api
let user: string

before(async () => {
  api = await openApi()
  user = await createUser('ada', 'devops', 'auditor')
})
after(() => api[Symbol.asyncDispose]())

async function createUser(name: string, ...roles: string[]): Promise<string> {
  const body = { name, password: PASSWORD, roles }
  return ((await api.send({ method: 'POST', path: '/users', body })).json() as { id: string }).id
}

const bearer = (token: string | null) => ({ authorization: `Bearer ${token}` })

async function createToken(
  body: object = {},
  owner = user,
  headers?: Record<string, string>,
): Promise<Token> {
  const path = `/users/${owner}/tokens`
  const answer = await api.send({
    method: 'POST',
    path,
    body: { name: 'cash desk', ...body },
    ...(headers && { headers }),
  })
  assert.equal(answer.status, 201, answer.text)
  return answer.json() as Token
}

const me = (token: string | null) => api.send({ method: 'GET', path: '/auth/me', headers: bearer(token) })

const listed = async (owner = user) =>
  ((await api.send({ method: 'GET', path: `/users/${owner}/tokens` })).json() as { items: Token[] }).items

test('a token is shown once, works at the api, and is listed without its text', async () => {
  const created = await createToken()
  assert.match(created.token ?? '', /^pat_[0-9A-Za-z]{40}$/)
  assert.equal(Date.parse(created.expires_at) - Date.parse(created.created_at), 90 * DAY_MS)
  const caller = (await me(created.token)).json() as { id: string; roles: string[] }
  assert.deepEqual([caller.id, caller.roles], [user, ['devops', 'auditor']])
  await eventually('its use is listed', async () => (await listed())[0]?.last_used_at !== null)
  const [newest] = await listed()
  assert.equal(newest?.id, created.id)
  assert.equal(newest?.last_used_from, '127.0.0.1')
  assert.ok(!('token' in newest))
})

test('a token has those of its roles that its user still has', async () => {
  const owner = await createUser('grace', 'devops', 'auditor')
  const { token } = await createToken({ roles: ['auditor'] }, owner)
  const rolesNow = async () => ((await me(token)).json() as { roles: string[] }).roles
  assert.deepEqual(await rolesNow(), ['auditor'])
  assertRefused(await api.send({ method: 'GET', path: '/orders', headers: bearer(token) }), 403, 'forbidden')
  await api.send({ method: 'PATCH', path: `/users/${owner}`, body: { roles: ['devops'] } })
  assert.deepEqual(await rolesNow(), [])
})

test('a role that the user lacks, and a lifetime that is too long, are refused', async () => {
  const path = `/users/${user}/tokens`
  const create = (body: object) => api.send({ method: 'POST', path, body: { name: 'x', ...body } })
  assertRefused(await create({ roles: ['admin'] }), 400, 'validation_failed', 'roles')
  assertRefused(await create({ expires_in: 366 * 86_400 + 1 }), 400, 'validation_failed', 'expires_in')
  assertRefused(await create({ expires_in: 0 }), 400, 'validation_failed', 'expires_in')
  assertRefused(await create({ name: 'x'.repeat(65) }), 400, 'validation_failed', 'name')
  assertRefused(
    await api.send({ method: 'POST', path: '/users/nobody/tokens', body: { name: 'x' } }),
    404,
    'user_not_found',
  )
})

test('everybody has to do with their own tokens, an admin with all', async () => {
  const other = await createUser('mallory', 'service')
  const { token } = await createToken({}, other)
  const path = `/users/${user}/tokens`
  const headers = bearer(token)
  assertRefused(await api.send({ method: 'GET', path, headers }), 403, 'forbidden')
  assertRefused(await api.send({ method: 'POST', path, headers, body: { name: 'x' } }), 403, 'forbidden')
  assertRefused(await api.send({ method: 'DELETE', path: `${path}/x`, headers }), 403, 'forbidden')
  const own = `/users/${other}/tokens`
  assert.equal((await api.send({ method: 'GET', path: own, headers })).status, 200)
  // A token of another user is none of this one.
  const foreign = await createToken()
  assertRefused(
    await api.send({ method: 'DELETE', path: `${own}/${foreign.id}`, headers }),
    404,
    'token_not_found',
  )
})

test('a token makes none that may do more, or longer, than itself', async () => {
  const limited = await createToken({ roles: ['auditor'], expires_in: 3_600 })
  const path = `/users/${user}/tokens`
  const headers = bearer(limited.token)
  assertRefused(await api.send({ method: 'POST', path, headers, body: { name: 'x' } }), 403, 'forbidden')
  const child = await createToken({ roles: ['auditor'] }, user, headers)
  assert.deepEqual([child.roles, child.expires_at], [['auditor'], limited.expires_at])
})

test('a revoked token is 401, and its VPN session ends', async () => {
  const created = await createToken()
  const url = api.platform.gatewayUrl
  const session = await openSession(url, { token: created.token ?? '' })
  const passed = () => fetch(`${url}/auth/me`, { headers: bearer(created.token) })
  assert.equal((await passed()).status, 200)
  const removal = { method: 'DELETE', path: `/users/${user}/tokens/${created.id}` }
  assert.equal((await api.send(removal)).status, 204)
  assert.equal((await session.closed).code, 4401)
  const refused = await me(created.token)
  assertRefused(refused, 401, 'unauthenticated')
  assert.match(String(refused.headers['www-authenticate']), /error_description="revoked"/)
  assert.equal((await passed()).status, 401)
  assertRefused(await api.send(removal), 404, 'token_not_found')
})

test('a renewed session goes by its new token: the end of the former one does not end it', async () => {
  const [former, next] = [await createToken(), await createToken()]
  const session = await openSession(api.platform.gatewayUrl, { token: former.token ?? '' })
  session.send({ type: 'renew', token: next.token })
  await session.frame('renewed')
  const revoke = ({ id }: Token) => api.send({ method: 'DELETE', path: `/users/${user}/tokens/${id}` })
  await revoke(former)
  session.send({ type: 'request', id: 1, method: 'GET', path: '/auth/me' })
  await session.frame('response', { id: 1 })
  await revoke(next)
  assert.equal((await session.closed).code, 4401)
})

test('disabling the user ends the tokens for good, a change of the password leaves them', async () => {
  const owner = await createUser('barbara', 'devops')
  const { token } = await createToken({}, owner)
  const password = await api.send({
    method: 'PUT',
    path: `/users/${owner}/password`,
    body: { password: 'another brass telescope' },
  })
  assert.deepEqual([password.status, password.headers['x-api-tokens']], [204, '1'])
  assert.equal((await me(token)).status, 200)
  for (const enabled of [false, true])
    await api.send({ method: 'PATCH', path: `/users/${owner}`, body: { enabled } })
  assert.equal((await me(token)).status, 401)
  assert.deepEqual(await listed(owner), [])
})

test('a repeated request gets the same token without its text', async () => {
  const headers = { 'x-user-id': 'tester', 'x-user-roles': 'admin', 'idempotency-key': 'one token' }
  const first = await createToken({}, user, headers)
  const second = await createToken({}, user, headers)
  assert.deepEqual([second.id, second.token], [first.id, null])
})

test('what only looks like a token is 401', async () => {
  const { token } = await createToken()
  const near = `${token?.slice(0, -1)}${token?.endsWith('0') ? '1' : '0'}`
  for (const text of [near, 'pat_', `pat_${'0'.repeat(40)}`, `${token}0`])
    assertRefused(await me(text), 401, 'unauthenticated')
})

test('neither the log nor the database has the text of a token', async () => {
  const { token } = await createToken()
  await me(token)
  assert.ok(!JSON.stringify(api.platform.logs()).includes(token ?? ''))
  for (const file of globSync(join(api.dataDir, 'platform.db*')))
    assert.ok(!readFileSync(file, 'latin1').includes(token ?? ''), file)
})

async function login(): Promise<string> {
  const answer = await api.send({
    method: 'POST',
    path: '/auth/login',
    body: { username: 'ada', password: PASSWORD },
    headers: {},
  })
  return (answer.json() as { access_token: string }).access_token
}

test('a logout ends the token that it is sent with, its VPN session, and no other', async () => {
  const [token, other] = [await login(), await login()]
  const session = await openSession(api.platform.gatewayUrl, { token })
  const logout = { method: 'POST', path: '/auth/logout', headers: bearer(token) }
  assert.equal((await api.send(logout)).status, 204)
  assert.equal((await session.closed).code, 4401)
  assertRefused(await me(token), 401, 'unauthenticated')
  assertRefused(await api.send(logout), 401, 'unauthenticated')
  assert.equal((await me(other)).status, 200)
})

test('a logout through the gateway ends the token too', async () => {
  const token = await login()
  const url = `${api.platform.gatewayUrl}/auth/logout`
  assert.equal((await fetch(url, { method: 'POST', headers: bearer(token) })).status, 204)
  assertRefused(await me(token), 401, 'unauthenticated')
})

test('only the token of a login can be ended by a logout', async () => {
  const { token } = await createToken()
  const path = '/auth/logout'
  assertRefused(await api.send({ method: 'POST', path, headers: bearer(token) }), 409, 'not_a_session')
  assertRefused(await api.send({ method: 'POST', path }), 409, 'not_a_session')
})
