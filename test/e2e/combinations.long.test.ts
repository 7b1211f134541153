// The settings that the documents recommend, each two values together at least once (docs/reliability.md, Combinations).
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { CertificateAuthority } from '../support/certificates.ts'
import { driveWorld } from '../support/drive-world.ts'
import { freePort } from '../support/loopback.ts'
import { writeNightFiles } from '../support/night-files.ts'
import { notifierWorld } from '../support/notifier.ts'
import { runPlatform, servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { assertSuccess, PASSWORD } from '../support/platform-commands.ts'
import { createTestDatabase } from '../support/postgres.ts'

/** What is combined: each factor off or on. */
const FACTORS = [
  'PostgreSQL',
  'no trusted proxies',
  'all addresses',
  'TLS',
  'gateway apart',
  'behind a proxy',
  'open umask',
] as const
type Factor = (typeof FACTORS)[number]
type Combination = ReadonlySet<Factor>

// Each factor is on in three of five rows, and no two in the same three: any two are on together, and each without the other.
const TRIPLES = [
  [0, 1, 2],
  [0, 1, 3],
  [0, 1, 4],
  [0, 2, 3],
  [0, 2, 4],
  [1, 3, 4],
  [2, 3, 4],
]
const COMBINATIONS: readonly Combination[] = [
  new Set<Factor>(),
  ...Array.from(
    { length: 5 },
    (_, row) => new Set(FACTORS.filter((_name, index) => TRIPLES[index]?.includes(row))),
  ),
]

const CALLER = '198.51.100.7'
const DAY = 86_400_000
const skip = process.getuid?.() !== 0 && 'the backup needs root'

const resources = new AsyncDisposableStack()
after(() => resources.disposeAsync())
const authority = resources.use(new CertificateAuthority())
const times = { from: Date.now() - DAY, to: Date.now() + 90 * DAY }
const certificate = await authority.issue({ names: ['IP:127.0.0.1'], ...times })

/** One installation with these settings, and what its clients need to know. */
interface Installation extends AsyncDisposable {
  readonly api: string
  readonly gateway: string
  /** Where programs of this host reach the api. */
  readonly local: string
  readonly env: Readonly<Record<string, string>>
  readonly dataDir: string
  stop(): Promise<void>
}

async function install(settings: Combination): Promise<Installation> {
  await using scope = new AsyncDisposableStack()
  const dataDir = scope.use(temporaryDirectory()).path
  const [localPort, apiPort] = [await freePort(), await freePort()]
  const scheme = settings.has('TLS') ? 'https' : 'http'
  const host = settings.has('all addresses') ? '0.0.0.0' : '127.0.0.1'
  const api = `${scheme}://127.0.0.1:${apiPort}`
  const env: Record<string, string> = {
    ...(settings.has('no trusted proxies') && { TRUSTED_PROXIES: 'none' }),
    ...(settings.has('behind a proxy') && { PROXY_CLIENT_ADDRESS_FROM: '127.0.0.1' }),
  }
  if (settings.has('TLS')) {
    const { path, keyPath } = certificate
    Object.assign(env, {
      API_TLS_CERT_FILE: path,
      API_TLS_KEY_FILE: keyPath,
      GATEWAY_TLS_CERT_FILE: path,
      GATEWAY_TLS_KEY_FILE: keyPath,
      GATEWAY_API_CA_FILE: path,
      API_LOCAL_LISTEN: `127.0.0.1:${localPort}`,
    })
  }
  if (settings.has('PostgreSQL')) {
    const { url, drop } = await createTestDatabase()
    scope.defer(drop)
    env['DATABASE_URL'] = url
  }
  const wrapper = settings.has('open umask') ? ['sh', '-c', 'umask 000; exec "$@"', 'sh'] : undefined
  const apiEnv = { LISTEN_ADDR: `${host}:${apiPort}` }
  const gatewayEnv = { GATEWAY_LISTEN_ADDR: `${host}:0` }
  const serve = async (modules: string, more: Readonly<Record<string, string>>) =>
    scope.use(
      await servePlatform({ dataDir, modules, env: { ...env, ...more }, ...(wrapper && { wrapper }) }),
    )
  const processes = settings.has('gateway apart')
    ? [
        await serve('api,worker', apiEnv),
        await serve('gateway', { LISTEN_ADDR: gatewayEnv.GATEWAY_LISTEN_ADDR, GATEWAY_API_URL: api }),
      ]
    : [await serve('all', { ...apiEnv, ...gatewayEnv })]
  const gatewayPort = new URL((processes.at(-1) as ServedPlatform).gatewayUrl).port
  const kept = scope.move()
  return {
    api,
    gateway: `${scheme}://127.0.0.1:${gatewayPort}`,
    local: settings.has('TLS') ? `http://127.0.0.1:${localPort}` : api,
    env: { ...env, ...apiEnv },
    dataDir,
    async stop() {
      for (const each of processes.toReversed()) assert.equal(await each.stop(), 0)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

interface Call {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

async function send(url: string, { method = 'GET', headers = {}, body }: Call = {}) {
  const request = url.startsWith('https:') ? httpsRequest : httpRequest
  const sent = request(url, {
    method,
    headers: { 'x-forwarded-for': CALLER, 'content-type': 'application/json', ...headers },
    ca: certificate.pem,
    agent: false,
  })
  const [response] = await once(sent.end(body && JSON.stringify(body)), 'response')
  const answer = await text(response)
  return {
    status: response.statusCode as number,
    body: JSON.parse(answer || 'null') as Record<string, unknown>,
  }
}

/** A login, an order, and a session, all through the gateway. */
async function useAsCustomer({ gateway }: Installation, settings: Combination): Promise<string> {
  const login = { method: 'POST', body: { username: 'ada', password: PASSWORD } }
  const { body } = await send(`${gateway}/auth/login`, login)
  const headers = { authorization: `Bearer ${String(body['access_token'])}` }
  const order = { order_id: 'one', platform: 'shop', amount_cents: 100 }
  assert.equal((await send(`${gateway}/orders`, { method: 'POST', headers, body: order })).status, 201)
  const socket = new WebSocket(`${gateway.replace('http', 'ws')}/vpn`, {
    headers: { ...headers, 'x-forwarded-for': CALLER },
    ca: certificate.pem,
  })
  const [frame] = await once(socket, 'message')
  assert.equal(JSON.parse(String(frame)).type, 'session')
  const sessions = (await send(`${gateway}/vpn/sessions`, { headers })).body['items'] as {
    remote_address: string
  }[]
  socket.terminate()
  assert.equal(sessions[0]?.remote_address, settings.has('behind a proxy') ? CALLER : '127.0.0.1')
  return headers.authorization
}

/** A night that reports to the platform, and a notifier that reads its tickets. */
async function useAsOperator(
  { local, gateway, env, dataDir }: Installation,
  authorization: string,
): Promise<void> {
  await using drives = await driveWorld()
  const night = { ...env, ...writeNightFiles(dataDir, drives.mock.url).env, BACKUP_PLATFORM_API: local }
  assertSuccess(await runPlatform(['backup', 'run', '--no-reboot'], { dataDir, env: night }))
  const reported = await send(`${gateway}/alerts?source=platform.backup.primary`, {
    headers: { authorization },
  })
  assert.match(JSON.stringify(reported.body), /backup\.done/)

  await using notifier = await notifierWorld()
  notifier.configure(['robot'])
  const keyFile = { TICKET_NOTIFY_KEY_FILE: join(dataDir, 'identity-key') }
  const round = await notifier.run([], { env: { PLATFORM_API: local, ...keyFile } })
  assert.equal(round.code, 0, round.stderr)
}

/** A backup of the database that is checked and put back, with what was sold before it. */
async function restore(installation: Installation, authorization: string): Promise<void> {
  const { gateway, env, dataDir } = installation
  const command = async (...args: string[]) =>
    assertSuccess(await runPlatform(['data', ...args], { dataDir, env }))
  await command('backup')
  const [name = ''] = readdirSync(join(dataDir, 'backups'))
  const file = join(dataDir, 'backups', name)
  const later = { order_id: 'later', platform: 'shop', amount_cents: 100 }
  const headers = { authorization }
  assert.equal((await send(`${gateway}/orders`, { method: 'POST', headers, body: later })).status, 201)
  await installation.stop()
  await command('verify', file)
  await command('restore', file)
}

describe('an installation', { concurrency: 2, skip }, () => {
  test('has each two of these settings together in one of the rows, and each without the other', () => {
    for (const [index, one] of FACTORS.entries())
      for (const other of FACTORS.slice(index + 1)) {
        const seen = new Set(COMBINATIONS.map((each) => `${each.has(one)} ${each.has(other)}`))
        assert.equal(seen.size, 4, `${one}, ${other}`)
      }
  })

  for (const settings of COMBINATIONS)
    test(`works with ${[...settings].join(', ') || 'the defaults'}`, async () => {
      await using installation = await install(settings)
      const { dataDir, env } = installation
      const options = { dataDir, env, input: `${PASSWORD}\n` }
      assertSuccess(await runPlatform(['user', 'add', 'ada', '--role', 'admin'], options))
      const authorization = await useAsCustomer(installation, settings)
      await useAsOperator(installation, authorization)
      await restore(installation, authorization)
    })
})
