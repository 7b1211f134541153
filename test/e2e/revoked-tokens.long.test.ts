import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSession, refusedBy, type GatewaySocket } from '../integration/gateway/socket.ts'
import { eventually } from '../support/eventually.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { scopeOf } from '../support/scope.ts'

const PASSWORD = 'a heavy brass telescope'
// docs/specification.md, Identity
const WITHIN = { timeoutMs: 10_000 }

interface Made {
  readonly userId: string
  readonly tokenId: string
  readonly token: string
}

function callWith(token: string, api: ServedPlatform, method: string, path: string): Promise<Response> {
  return fetch(`${api.url}${path}`, { method, headers: { authorization: `Bearer ${token}` } })
}

async function jsonOf<T>(call: Promise<Response>): Promise<T> {
  const answer = await call
  assert.ok(answer.ok, await answer.clone().text())
  return (await answer.json()) as T
}

/** A user of its own, with an API token. */
async function createToken(api: ServedPlatform, name: string): Promise<Made> {
  const body = { name, password: PASSWORD, roles: ['devops'] }
  const { id: userId } = await jsonOf<{ id: string }>(api.call('POST', '/users', { body }))
  const made = await jsonOf<{ id: string; token: string }>(
    api.call('POST', `/users/${userId}/tokens`, { body: { name } }),
  )
  return { userId, tokenId: made.id, token: made.token }
}

/** The token of a login of its own user. */
async function logIn(api: ServedPlatform, name: string): Promise<Made> {
  const made = await createToken(api, name)
  const body = { username: name, password: PASSWORD }
  const login = await jsonOf<{ access_token: string }>(api.call('POST', '/auth/login', { body }))
  return { ...made, token: login.access_token }
}

/** What ends a token, at one process. */
const ENDINGS: Readonly<
  Record<
    string,
    {
      readonly make: (api: ServedPlatform, name: string) => Promise<Made>
      readonly end: (api: ServedPlatform, made: Made) => Promise<Response>
    }
  >
> = {
  revoked: {
    make: createToken,
    end: (api, { userId, tokenId }) => api.call('DELETE', `/users/${userId}/tokens/${tokenId}`),
  },
  'logged-out': {
    make: logIn,
    end: (api, { token }) => callWith(token, api, 'POST', '/auth/logout'),
  },
  disabled: {
    make: createToken,
    end: (api, { userId }) => api.call('PATCH', `/users/${userId}`, { body: { enabled: false } }),
  },
  deleted: { make: createToken, end: (api, { userId }) => api.call('DELETE', `/users/${userId}`) },
}

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`on ${engine} an ended token is dead within 10 s in every process, though it is in use`, async (t) => {
    const scope = scopeOf(t)
    const dataDir = scope.use(temporaryDirectory()).path
    const env: Record<string, string> = { API_RATE_LIMIT: '0' }
    if (engine === 'postgres') {
      const { url, drop } = await createTestDatabase()
      scope.defer(drop)
      env['DATABASE_URL'] = url
    }
    const first = scope.use(await servePlatform({ dataDir, modules: 'api', env }))
    const second = scope.use(await servePlatform({ dataDir, modules: 'api', env }))
    const gateway = scope.use(
      await servePlatform({ dataDir, modules: 'gateway', env: { ...env, GATEWAY_API_URL: second.url } }),
    )
    const statusAt = async (api: ServedPlatform, { token }: Made) =>
      (await callWith(token, api, 'GET', '/auth/me')).status
    const used: { made: Made; session: GatewaySocket; end: () => Promise<Response> }[] = []
    for (const [name, { make, end }] of Object.entries(ENDINGS)) {
      const made = await make(first, name)
      const session = await openSession(gateway.gatewayUrl, { token: made.token })
      for (const api of [first, second]) assert.equal(await statusAt(api, made), 200, name)
      used.push({ made, session, end: () => end(first, made) })
    }
    for (const { end } of used) assert.ok((await end()).ok)
    const isOver = new Set<GatewaySocket>()
    for (const { session } of used) void session.closed.then(() => isOver.add(session))
    await eventually('all tokens are refused by both apis, and their sessions have ended', allAreDead, WITHIN)
    for (const { made } of used)
      assert.equal((await refusedBy(gateway.gatewayUrl, { token: made.token })).status, 401)

    async function allAreDead(): Promise<boolean> {
      const calls = used.flatMap(({ made }) => [statusAt(first, made), statusAt(second, made)])
      const statuses = await Promise.all(calls)
      return statuses.every((status) => status === 401) && isOver.size === used.length
    }
  })
}
