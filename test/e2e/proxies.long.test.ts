// The configurations of deploy/proxies, in front of a platform whose callers they name.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { json } from 'node:stream/consumers'
import { delimiter, join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { WebSocket } from 'ws'
import { CertificateAuthority } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/loopback.ts'
import { runPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'

const PASSWORD = 'five quiet otters'
const CONFIGURATIONS = join(import.meta.dirname, '../../deploy/proxies')
// The proxy connects from 127.0.0.1, and so do tools; this client does not.
const CLIENT = '127.0.0.2'
const API = 'api.example.com'
const GATEWAY = 'gateway.example.com'
const PATH = [process.env['PATH'], '/usr/sbin', '/sbin'].join(delimiter)

const resources = new AsyncDisposableStack()
after(() => resources.disposeAsync())
const directory = resources.use(temporaryDirectory()).path
const dataDir = resources.use(temporaryDirectory()).path
const platform = resources.use(
  await servePlatform({
    dataDir,
    modules: 'api,gateway',
    env: { PROXY_CLIENT_ADDRESS_FROM: '127.0.0.1', GATEWAY_LISTEN_ADDR: '127.0.0.1:0' },
  }),
)
const added = await runPlatform(['user', 'add', 'ada', '--role', 'admin'], {
  dataDir,
  input: `${PASSWORD}\n`,
})
assert.equal(added.code, 0, added.stderr)
const authority = resources.use(new CertificateAuthority())
const now = Date.now()
const certificate = await authority.issue({
  names: [`DNS:${API}`, `DNS:${GATEWAY}`],
  from: now - 86_400_000,
  to: now + 86_400_000,
})
const both = join(directory, 'both.pem')
writeFileSync(both, certificate.pem + readFileSync(certificate.keyPath, 'utf8'))

interface Proxy {
  readonly name: string
  readonly file: string
  /** Completes the configuration for a test, and returns the command. */
  command(path: string, configuration: string, port: number): readonly [string, ...string[]]
}

const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    file: 'nginx.conf',
    command(path, configuration) {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      writeFileSync(`${path}.http`, configuration)
      writeFileSync(
        path,
        `daemon off; master_process off; pid ${path}.pid; error_log stderr; events {} http { access_log off;
         ${temporary.map((each) => `${each}_temp_path ${path}.${each};`).join(' ')} include ${path}.http; }`,
      )
      return ['nginx', '-c', path]
    },
  },
  {
    name: 'haproxy',
    file: 'haproxy.cfg',
    command(path, configuration) {
      writeFileSync(path, configuration)
      return ['haproxy', '-db', '-f', path]
    },
  },
  {
    name: 'caddy',
    file: 'Caddyfile',
    command(path, configuration, port) {
      const tls = `\ttls ${certificate.path} ${certificate.keyPath}\n`
      const sites = configuration.replaceAll(
        /^(\S+\.example\.com) \{\n/gm,
        (_line, site) => `${site}:${port} {\n\tbind 127.0.0.1\n${tls}`,
      )
      writeFileSync(path, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${sites}`)
      return ['caddy', 'run', '--adapter', 'caddyfile', '--config', path]
    },
  },
]

const isInstalled = ({ name }: Proxy) =>
  spawnSync('sh', ['-c', `command -v ${name}`], { env: { ...process.env, PATH } }).status === 0

for (const proxy of PROXIES) {
  const skip = !isInstalled(proxy) && `${proxy.name} is not installed`
  test(`behind ${proxy.name} the platform knows its callers by their own address`, { skip }, async (t) => {
    const port = await startProxy(t, proxy)
    const call = callerOf(port)
    const identity = { 'x-user-id': 'root', 'x-user-roles': 'admin' }
    assert.equal((await call(API, 'GET', '/users', { headers: identity })).status, 401, 'through the proxy')
    assert.equal((await platform.call('GET', '/users')).status, 401, 'from the address of the proxy')
    assert.equal((await call(API, 'GET', '/metrics')).status, 404)

    const spoofed = { 'x-forwarded-for': '198.51.100.1', forwarded: 'for=198.51.100.2' }
    for (const host of [API, GATEWAY]) {
      const body = JSON.stringify({ username: 'nobody', password: 'a wrong password' })
      const headers = {
        ...spoofed,
        'content-type': 'application/json',
        'user-agent': `${proxy.name} ${host}`,
      }
      const refused = await call(host, 'POST', '/auth/login', { headers, body })
      assert.equal(refused.status, 401)
      assert.equal(await loggedAddress(String(refused.headers['x-request-id'])), CLIENT, host)
    }

    const token = await logIn(call)
    const authorization = { authorization: `Bearer ${token}` }
    const passedOn = await call(GATEWAY, 'GET', '/auth/me', { headers: authorization })
    assert.equal(passedOn.status, 200)
    assert.equal(await loggedAddress(String(passedOn.headers['x-request-id'])), CLIENT)

    await using session = await openSession(port, token, spoofed)
    const { items } = (await session.ask('/vpn/sessions')) as {
      items: { remote_address: string }[]
    }
    assert.deepEqual(
      items.map((each) => each.remote_address),
      [CLIENT],
    )
    // It comes before the stream ends, so nothing has collected it.
    assert.match(await readStream(port, authorization), /^:/)
  })
}

async function startProxy(t: TestContext, { name, file, command }: Proxy): Promise<number> {
  const port = await freePort()
  const path = join(directory, name, file)
  mkdirSync(join(directory, name))
  const [program, ...args] = command(path, configurationOf(file, port), port)
  const child = spawn(program, args, {
    env: { ...process.env, PATH, HOME: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
  t.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  })
  const serves = async () => {
    if (child.exitCode !== null) return true
    const { status } = await callerOf(port)(API, 'GET', '/health')
    return status === 200
  }
  await eventually(`${name} serves`, serves)
  assert.equal(child.exitCode, null, output)
  return port
}

/** The configuration with the addresses and the certificate of this test. */
function configurationOf(file: string, port: number): string {
  return readFileSync(join(CONFIGURATIONS, file), 'utf8')
    .replaceAll('127.0.0.1:9600', platform.url.replace('http://', ''))
    .replaceAll('127.0.0.1:9994', platform.gatewayUrl.replace('http://', ''))
    .replaceAll('/etc/ssl/platform/fullchain.pem', certificate.path)
    .replaceAll('/etc/ssl/platform/privkey.pem', certificate.keyPath)
    .replaceAll('/etc/ssl/platform/haproxy.pem', both)
    .replaceAll('listen 443 ', `listen 127.0.0.1:${port} `)
    .replaceAll('bind :443 ', `bind 127.0.0.1:${port} `)
}

interface Called {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
}

type Call = (
  host: string,
  method: string,
  path: string,
  options?: { headers?: Record<string, string>; body?: string },
) => Promise<Called>

function optionsFor(port: number, host: string): RequestOptions {
  const options = { host: '127.0.0.1', port, localAddress: CLIENT, servername: host, ca: certificate.pem }
  return { ...options, agent: false }
}

function callerOf(port: number): Call {
  return async (host, method, path, { headers = {}, body } = {}) => {
    const options = {
      ...optionsFor(port, host),
      method,
      path,
      headers: { ...headers, host: `${host}:${port}` },
    }
    const request = httpsRequest(options).end(body)
    const [response] = await once(request, 'response')
    const { statusCode: status, headers: answered } = response
    return { status, headers: answered, body: await json(response).catch(() => undefined) }
  }
}

async function logIn(call: Call): Promise<string> {
  const { body } = await call(API, 'POST', '/auth/login', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ada', password: PASSWORD }),
  })
  return (body as { access_token: string }).access_token
}

/** The address in the log of the api, also for a request that the gateway has passed on. */
async function loggedAddress(requestId: string): Promise<unknown> {
  const linesOf = () =>
    platform.logs().filter((line) => line.message === 'request' && line['request_id'] === requestId)
  await eventually('the log lines', () => linesOf().length > 0)
  const addresses = new Set(linesOf().map((line) => line['remote_address']))
  assert.equal(addresses.size, 1)
  return [...addresses][0]
}

async function openSession(port: number, token: string, headers: Record<string, string>) {
  const socket = new WebSocket(`wss://127.0.0.1:${port}/vpn`, {
    ...optionsFor(port, GATEWAY),
    origin: `https://${GATEWAY}:${port}`,
    headers: { ...headers, host: `${GATEWAY}:${port}`, authorization: `Bearer ${token}` },
  })
  const frames: { type: string; body?: unknown }[] = []
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(String(data)) as (typeof frames)[0]))
  const frame = (type: string) =>
    eventually(`a frame ${type}`, () => frames.find((each) => each.type === type))
  await Promise.race([
    frame('session'),
    once(socket, 'unexpected-response').then(() => assert.fail('refused')),
  ])
  return {
    async ask(path: string) {
      socket.send(JSON.stringify({ type: 'request', id: 1, method: 'GET', path }))
      return (await frame('response')).body
    },
    async [Symbol.asyncDispose]() {
      socket.terminate()
    },
  }
}

/** Resolves with the first bytes of the live stream. */
async function readStream(port: number, headers: Record<string, string>): Promise<string> {
  const options = { ...optionsFor(port, API), path: '/events', headers: { ...headers, host: API } }
  const request = httpsRequest(options).end()
  const [response] = await once(request, 'response')
  assert.equal(response.statusCode, 200)
  const [first] = await once(response, 'data')
  request.destroy()
  return String(first)
}
