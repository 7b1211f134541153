import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { openSession, PATIENT, refusedBy } from '../integration/gateway/socket.ts'
import { eventually } from '../support/eventually.ts'
import { runPlatform, servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { scopeOf } from '../support/scope.ts'

const PASSWORD = 'five quiet otters'

/** How api and gateway may run: in one process, or in two with one data directory or one database. */
const LAYOUTS = [
  { name: 'in one process', modules: ['api,gateway'], engine: 'sqlite' },
  { name: 'in two processes on one file', modules: ['api', 'gateway'], engine: 'sqlite' },
  { name: 'in two processes on PostgreSQL', modules: ['api', 'gateway'], engine: 'postgres' },
] as const

interface World {
  readonly api: ServedPlatform
  readonly gateway: ServedPlatform
  readonly user: { readonly id: string; readonly token: string }
}

async function start(
  t: TestContext,
  { modules, engine }: (typeof LAYOUTS)[number],
  settings: Record<string, string> = {},
): Promise<World> {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const env = { ...settings }
  if (engine === 'postgres') {
    const { url, drop } = await createTestDatabase()
    scope.defer(drop)
    env['DATABASE_URL'] = url
  }
  const [first, second] = modules
  const api = scope.use(await servePlatform({ dataDir, modules: first, env }))
  const gateway = second
    ? scope.use(await servePlatform({ dataDir, modules: second, env: { ...env, GATEWAY_API_URL: api.url } }))
    : api
  const made = await api.call('POST', '/users', {
    body: { name: 'ada', password: PASSWORD, roles: ['devops'] },
  })
  assert.equal(made.status, 201)
  const { id } = (await made.json()) as { id: string }
  return { api, gateway, user: { id, token: await logIn(gateway) } }
}

/** Through the gateway, as a client does it. */
async function logIn({ gatewayUrl }: ServedPlatform): Promise<string> {
  const answer = await fetch(`${gatewayUrl}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ada', password: PASSWORD }),
  })
  assert.equal(answer.status, 200)
  return ((await answer.json()) as { access_token: string }).access_token
}

async function sessionsAt(api: ServedPlatform, query = ''): Promise<Record<string, unknown>[]> {
  const answer = await api.call('GET', `/vpn/sessions${query}`)
  return ((await answer.json()) as { items: Record<string, unknown>[] }).items
}

for (const layout of LAYOUTS) {
  test(`api and gateway ${layout.name}`, async (t) => {
    const { api, gateway, user } = await start(t, layout)
    const open = (query = '') => openSession(gateway.gatewayUrl, { token: user.token, query })

    await t.test('a session is seen at the api, and its requests are those of its user', async () => {
      const session = await open('?device=laptop')
      const [item] = await sessionsAt(api)
      assert.deepEqual(
        [item?.['id'], item?.['virtual_ip'], item?.['device'], item?.['remote_address']],
        [session.frames[0]?.['session_id'], session.frames[0]?.['virtual_ip'], 'laptop', '127.0.0.1'],
      )
      session.send({ type: 'request', id: 'me', method: 'GET', path: '/auth/me' })
      const me = await session.frame('response', { id: 'me' })
      assert.deepEqual([me['status'], (me['body'] as { name: string }).name], [200, 'ada'])
      session.send({ type: 'request', id: 'no', method: 'GET', path: '/users' })
      assert.equal((await session.frame('response', { id: 'no' }))['status'], 403)
    })

    await t.test('a body that the api refuses over HTTP is refused through a session too', async () => {
      const session = await open('?device=laptop')
      const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
      const bodies = ['{"title":"a","title":"b"}', '{"title":1e400}', `{"title":${deep}}`]
      for (const [id, body] of bodies.entries()) {
        session.socket.send(`{"type":"request","id":${id},"method":"POST","path":"/tickets","body":${body}}`)
      }
      const answers = await Promise.all(bodies.map((_, id) => session.frame('response', { id })))
      assert.deepEqual(
        answers.map(({ status, body }) => [status, (body as { code: string }).code]),
        [
          [400, 'malformed_json'],
          [400, 'validation_failed'],
          [400, 'validation_failed'],
        ],
      )
    })

    await t.test('a request that is passed on is one of the holder of its token', async () => {
      const headers = { authorization: `Bearer ${user.token}` }
      const me = await fetch(`${gateway.gatewayUrl}/auth/me`, { headers })
      assert.equal(((await me.json()) as { name: string }).name, 'ada')
    })

    await t.test('the picture of the tunnels is drawn from what the gateway answers', async () => {
      const headers = { authorization: `Bearer ${user.token}` }
      const tunnels = async () =>
        (await (await fetch(`${gateway.gatewayUrl}/tunnels/state`, { headers })).json()) as {
          total: number
          gateways: { address: string; heartbeat_seconds: number; alive: boolean }[]
          sessions: { device: string }[]
        }
      const { total, gateways, sessions } = await tunnels()
      assert.deepEqual([total, gateways.length, sessions[0]?.device], [1, 1, 'laptop'])
      assert.deepEqual([gateways[0]?.heartbeat_seconds, gateways[0]?.alive], [30, true])
      const { host } = new URL(gateway.gatewayUrl)
      await eventually(
        'the port that the system has chosen',
        async () => (await tunnels()).gateways[0]?.address === host,
        PATIENT,
      )
    })

    await t.test('an operator ends a session with 4403', async () => {
      const session = await open()
      const id = String(session.frames[0]?.['session_id'])
      assert.ok((await api.call('DELETE', `/vpn/sessions/${id}`)).ok)
      assert.equal((await session.closed).code, 4403)
      const [past] = await sessionsAt(api, '?state=closed')
      assert.deepEqual([past?.['id'], past?.['close_code']], [id, 4403])
    })

    await t.test('a user who is disabled loses sessions and token, and gets both back', async () => {
      const session = await open()
      await setEnabled(api, user.id, false)
      assert.equal((await session.closed).code, 4401)
      assert.equal((await refusedBy(gateway.gatewayUrl, { token: user.token })).status, 401)
      await setEnabled(api, user.id, true)
    })

    await t.test(
      'a gateway that stops tells its sessions, returns their addresses and ends with 0',
      async () => {
        const token = await logIn(gateway)
        const sessions = await Promise.all(
          Array.from({ length: 10 }, () => openSession(gateway.gatewayUrl, { token })),
        )
        assert.equal((await sessionsAt(api)).length, 10)
        assert.equal(await gateway.stop(), 0)
        const codes = await Promise.all(sessions.map(async ({ closed }) => (await closed).code))
        assert.deepEqual(new Set(codes), new Set([1001]))
        if (api !== gateway) assert.deepEqual(await sessionsAt(api), [])
      },
    )
  })
}

async function setEnabled(api: ServedPlatform, id: string, enabled: boolean): Promise<void> {
  const changed = await api.call('PATCH', `/users/${id}`, { body: { enabled } })
  assert.ok(changed.ok, await changed.text())
}

/** Sends a request on a connection of its own; resolves when the kernel has it, with what the server will answer. */
async function sendRaw(url: string, request: string): Promise<{ readonly answer: Promise<string> }> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const answer = text(socket)
  await new Promise((resolve) => socket.write(request, resolve))
  return { answer }
}

test('requests on their way when a gateway gets SIGTERM are answered', async (t) => {
  const { gateway, user } = await start(t, LAYOUTS[1])
  const authorization = `Authorization: Bearer ${user.token}\r\n`
  const requests = Array.from({ length: 50 }, (_, index) =>
    index % 2 === 0
      ? 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'
      : `GET /auth/me HTTP/1.1\r\nHost: a\r\n${authorization}\r\n`,
  )
  // While the process stands still, the kernel completes the connections and holds them in its queue.
  gateway.signal('SIGSTOP')
  const sent = await Promise.all(requests.map((request) => sendRaw(gateway.gatewayUrl, request)))
  gateway.signal('SIGTERM')
  gateway.signal('SIGCONT')
  const statuses = (await Promise.all(sent.map(({ answer }) => answer))).map(
    (answer) => /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1],
  )
  assert.deepEqual(new Set(statuses), new Set(['200']))
  assert.equal(await gateway.ended, 0)
})

test('a user who has as many sessions as are allowed is refused another one', async (t) => {
  const { gateway, user } = await start(t, LAYOUTS[0], { VPN_SESSIONS_PER_USER: '1' })
  const open = () => openSession(gateway.gatewayUrl, { token: user.token, query: '?device=laptop' })
  const session = await open()
  const refused = await refusedBy(gateway.gatewayUrl, { token: user.token })
  assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited'])
  await open()
  assert.equal((await session.closed).code, 4409)
})

test('a second gateway of one name does not start while the first one lives', async (t) => {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const api = scope.use(await servePlatform({ dataDir, modules: 'api' }))
  const env = { GATEWAY_API_URL: api.url, GATEWAY_NAME: 'primary' }
  const first = scope.use(await servePlatform({ dataDir, modules: 'gateway', env }))
  const second = await runPlatform(['serve', '--module', 'gateway'], { dataDir, env })
  assert.notEqual(second.code, 0)
  assert.match(second.stderr, /gateway\.name: "primary" is in use by the gateway at 127\.0\.0\.1:\d+ since /)
  await first.kill()
  const again = scope.use(await servePlatform({ dataDir, modules: 'gateway', env }))
  assert.equal(await again.stop(), 0)
})

test('a gateway that is read-only takes no sessions, and passes requests on', async (t) => {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const api = scope.use(await servePlatform({ dataDir, modules: 'api' }))
  const made = await runPlatform(['user', 'add', 'ada', '--role', 'devops'], {
    dataDir,
    input: `${PASSWORD}\n`,
  })
  assert.equal(made.code, 0, made.stderr)
  const env = { GATEWAY_API_URL: api.url, READ_ONLY: '1' }
  const gateway = scope.use(await servePlatform({ dataDir, modules: 'gateway', env }))
  const token = await logIn(gateway)
  const refused = await refusedBy(gateway.gatewayUrl, { token })
  assert.deepEqual([refused.status, refused.body.code], [503, 'read_only'])
  const me = await fetch(`${gateway.gatewayUrl}/auth/me`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(me.status, 200)
  assert.equal(await gateway.stop(), 0)
})

test('guessing through a gateway is slowed down by where it comes from', async (t) => {
  const { api, gateway } = await start(t, LAYOUTS[1])
  const guess = (url: string, headers = {}) =>
    fetch(`${url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ username: 'ada', password: 'a wrong password' }),
    })
  // The client's address is its own choice nowhere but at the gateway.
  for (let count = 0; count < 10; count++) {
    assert.equal((await guess(gateway.gatewayUrl, { 'x-forwarded-for': `192.0.2.${count}` })).status, 401)
  }
  assert.equal((await guess(gateway.gatewayUrl)).status, 429)
  assert.equal((await guess(api.url, { 'x-forwarded-for': '192.0.2.200' })).status, 401, 'from elsewhere')
  await eventually(
    'the addresses in the log',
    () => {
      const addresses = api
        .logs()
        .filter(({ message }) => message === 'login failed')
        .map((line) => line['remote_address'])
      return addresses.includes('127.0.0.1') && addresses.includes('192.0.2.200')
    },
    PATIENT,
  )
})

test('an api that trusts no address still recognises the gateway of its installation', async (t) => {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const env = { TRUSTED_PROXIES: 'none' }
  assert.equal((await runPlatform(['db', 'migrate'], { dataDir, env })).code, 0)
  const added = await runPlatform(['user', 'add', 'ada', '--role', 'devops'], {
    dataDir,
    env,
    input: `${PASSWORD}\n`,
  })
  assert.equal(added.code, 0, added.stderr)
  const platform = scope.use(await servePlatform({ dataDir, modules: 'api,gateway', env }))
  const token = await logIn(platform)
  const passed = await fetch(`${platform.gatewayUrl}/auth/me`, {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(passed.status, 200)
  const session = await openSession(platform.gatewayUrl, { token, query: '' })
  session.send({ type: 'request', id: 'me', method: 'GET', path: '/auth/me' })
  const me = await session.frame('response', { id: 'me' })
  assert.deepEqual([me['status'], (me['body'] as { name: string }).name], [200, 'ada'])
  assert.equal((await platform.call('GET', '/orders')).status, 401, 'headers without a signature')
})
