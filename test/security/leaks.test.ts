import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { CERTIFICATE, freshCertificate } from '../support/certificate-sample.ts'
import { eventually } from '../support/eventually.ts'
import { listenTo } from '../support/bus-reader.ts'
import { startNats } from '../support/nats.ts'
import {
  runPlatform,
  servePlatform,
  temporaryDirectory,
  type CallOptions,
  type ServedPlatform,
} from '../support/platform.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { scopeOf } from '../support/scope.ts'
import { createCanaries, type Canaries } from './canaries.ts'

const DEADLINE = { timeoutMs: 120_000 }

/** Every setting that is a secret, with one to be looked for. */
function secretSettings(canaries: Canaries): Record<string, string> {
  return {
    JWT_SECRET: canaries.plant('the key of the tokens') + canaries.plant('its second half'),
    LOG_LEVEL: 'debug',
  }
}

const login = (password: string) => `platform:${encodeURIComponent(password)}`

/** Calls, and keeps what was answered to be searched; the answers that hand out a token are left out. */
function recorder(platform: ServedPlatform) {
  const answers: string[] = []
  const call = async (method: string, path: string, options: CallOptions = {}) => {
    const answer = await platform.call(method, path, options)
    const text = await answer.text()
    answers.push(`${JSON.stringify([...answer.headers])} ${text}`)
    return { status: answer.status, text }
  }
  return { call, answers }
}

type Call = ReturnType<typeof recorder>['call']

function assertNoTraces(canaries: Canaries, platform: ServedPlatform, answers: readonly string[]): void {
  const cmdline = platform.pid > 0 ? readIfThere(`/proc/${platform.pid}/cmdline`) : ''
  canaries.assertNone(JSON.stringify(platform.logs()), 'the log')
  canaries.assertNone(platform.stderr(), 'standard error')
  canaries.assertNone(cmdline, 'the command line')
  for (const answer of answers) canaries.assertNone(answer, 'an answer')
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Signs in and changes passwords; then everything that goes wrong with a secret in the hand. */
async function useSecrets(platform: ServedPlatform, call: Call, canaries: Canaries): Promise<void> {
  const json = { 'content-type': 'application/json' }
  const [password, next, wrong, key] = [
    'a password',
    'its successor',
    'a wrong password',
    'an idempotency key',
  ].map((name) => canaries.plant(name)) as [string, string, string, string]
  const made = await call('POST', '/users', {
    body: { name: 'ada', password, roles: ['admin'] },
    headers: { 'idempotency-key': key },
  })
  assert.equal(made.status, 201, made.text)
  const signIn = await platform.call('POST', '/auth/login', { body: { username: 'ada', password } })
  const { access_token: token, user } = (await signIn.json()) as {
    access_token: string
    user: { id: string }
  }
  canaries.add('a token', token)
  const bearer = { authorization: `Bearer ${token}` }
  assert.equal((await call('GET', '/auth/me', { headers: bearer })).status, 200)
  const change = { password: next, old_password: password }
  assert.equal(
    (await call('PUT', `/users/${user.id}/password`, { body: change, headers: bearer })).status,
    204,
  )

  const bad: readonly (readonly [status: number, method: string, path: string, options: CallOptions])[] = [
    [401, 'GET', '/auth/me', { headers: bearer }],
    [401, 'GET', '/auth/me', { headers: { authorization: `Bearer ${wrong}` } }],
    [401, 'GET', '/auth/me', { headers: { authorization: `Basic ${btoa(login(wrong))}` } }],
    [401, 'POST', '/auth/login', { body: { username: 'ada', password: wrong } }],
    [401, 'POST', '/auth/login', { body: { username: wrong, password: wrong } }],
    [400, 'POST', '/auth/login', { body: { username: 'ada', password: { deep: wrong } } }],
    [400, 'POST', '/auth/login', { body: { username: 'ada', password: wrong, token } }],
    [
      400,
      'POST',
      '/users',
      { body: { name: 'eve', password: `${wrong}${'x'.repeat(300)}`, roles: ['admin'] } },
    ],
    [400, 'POST', '/users', { body: { name: 'eve', password: [wrong], roles: ['admin'] } }],
    [401, 'PUT', `/users/${user.id}/password`, { body: { password, old_password: wrong }, user: user.id }],
    [
      409,
      'POST',
      '/users',
      { body: { name: 'ada', password: wrong, roles: ['devops'] }, headers: { 'idempotency-key': key } },
    ],
    [
      400,
      'POST',
      '/orders',
      { body: { order_id: 'a' }, headers: { 'idempotency-key': key, cookie: `sid=${wrong}` } },
    ],
    [400, 'GET', `/orders?access_token=${encodeURIComponent(wrong)}`, {}],
    [400, 'GET', `/auth/me?password=${encodeURIComponent(wrong)}`, {}],
    [
      400,
      'POST',
      '/alerts/report',
      { body: { source: 's', title: '${password}', level: 'HIGH', body: '${token}' } },
    ],
  ]
  for (const [status, method, path, options] of bad)
    assert.equal((await call(method, path, options)).status, status, `${method} ${path.split('?')[0]}`)
  const broken = await fetch(`${platform.url}/auth/login`, {
    method: 'POST',
    headers: json,
    body: `{"password":"${wrong}"`,
  })
  assert.equal(broken.status, 400)
  canaries.assertNone(await broken.text(), 'the answer to broken JSON')
  await useApiToken(platform, call, canaries, user.id)
  await useWebhook(platform, call, canaries)
  await usePings(platform, canaries)
}

/** Makes an API token, and uses it rightly, wrongly, and after its end. */
async function useApiToken(
  platform: ServedPlatform,
  call: Call,
  canaries: Canaries,
  userId: string,
): Promise<void> {
  const path = `/users/${userId}/tokens`
  const creation = { body: { name: 'cash desk' }, headers: { 'idempotency-key': randomUUID() } }
  const made = await platform.call('POST', path, creation)
  const { id, token } = (await made.json()) as { id: string; token: string }
  canaries.add('an API token', token)
  const bearer = { authorization: `Bearer ${token}` }
  const uses: readonly (readonly [status: number, method: string, path: string, options: CallOptions])[] = [
    [201, 'POST', path, creation],
    [200, 'GET', '/auth/me', { headers: bearer }],
    [400, 'POST', '/orders', { body: { order_id: 'a' }, headers: bearer }],
    [409, 'POST', '/auth/logout', { headers: bearer }],
    [400, 'GET', `/orders?access_token=${token}`, {}],
    [401, 'GET', '/auth/me', { headers: { authorization: `Basic ${btoa(`ada:${token}`)}` } }],
    [401, 'POST', '/auth/login', { body: { username: 'ada', password: token } }],
    [401, 'POST', '/auth/login', { body: { username: token, password: 'a password of nobody' } }],
    [204, 'DELETE', `${path}/${id}`, {}],
    [401, 'GET', '/auth/me', { headers: bearer }],
    [200, 'GET', path, {}],
  ]
  for (const [status, method, at, options] of uses)
    assert.equal((await call(method, at, options)).status, status, `${method} ${at.split('?')[0]}`)
}

/** Makes a webhook, gives it another secret, and reads what there is of it. */
async function useWebhook(platform: ServedPlatform, call: Call, canaries: Canaries): Promise<void> {
  const body = { url: 'https://hooks.invalid/', subjects: ['order.*'] }
  const creation = { body, headers: { 'idempotency-key': randomUUID() } }
  const made = await platform.call('POST', '/webhooks', creation)
  const { id, secret } = (await made.json()) as { id: string; secret: string }
  const rotated = await platform.call('POST', `/webhooks/${id}/rotate`)
  const { secret: second } = (await rotated.json()) as { secret: string }
  canaries.add('the former secret of a webhook', secret.replace('whsec_', ''))
  canaries.add('the secret of a webhook', second.replace('whsec_', ''))
  for (const [status, method, path, options] of [
    [201, 'POST', '/webhooks', creation],
    [200, 'PATCH', `/webhooks/${id}`, { body: { description: 'the shop' } }],
    [400, 'PATCH', `/webhooks/${id}`, { body: { secret: second } }],
    [202, 'POST', `/webhooks/${id}/test`, {}],
    [200, 'GET', `/webhooks/${id}/deliveries`, {}],
  ] as const)
    assert.equal((await call(method, path, options)).status, status, `${method} ${path}`)
}

/** Calls the address of a heartbeat, rightly and wrongly. */
async function usePings(platform: ServedPlatform, canaries: Canaries): Promise<void> {
  const made = await platform.call('PUT', '/alerts/heartbeats/job', { body: { every_seconds: 60 } })
  const { ping_url: path } = (await made.json()) as { ping_url: string }
  canaries.add('the address of a heartbeat', path.slice(path.lastIndexOf('/') + 1))
  for (const [status, suffix] of [
    [200, ''],
    [200, '/start'],
    [400, '/stop'],
    [404, '/start/now'],
  ] as const)
    assert.equal((await fetch(`${platform.url}${path}${suffix}`)).status, status, suffix)
}

/** Sends a private key in all places where it could be stored, and text beside a certificate that must not be. */
async function usePrivateKey(call: Call, canaries: Canaries): Promise<void> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  for (const [number, line] of key.split('\n').entries())
    if (/^[\w+/]{64}$/.test(line)) canaries.add(`line ${number} of a private key`, line)
  const text = canaries.plant('text beside a certificate')
  const good = { name: 'shop', pem: `${text}\n${CERTIFICATE}${text}` }
  const registered = await call('POST', '/certificates', { body: good })
  assert.equal(registered.status, 201, registered.text)
  const { id } = JSON.parse(registered.text) as { id: string }
  const refused: readonly (readonly [path: string, body: unknown])[] = [
    ['/certificates', { name: 'shop', pem: key }],
    ['/certificates', { name: 'shop', pem: freshCertificate() + key }],
    [
      '/certificates',
      { name: 'shop', pem: freshCertificate() + key.replaceAll('PRIVATE KEY', 'CERTIFICATE') },
    ],
    ['/certificates', { name: key.split('\n')[1], pem: freshCertificate() }],
    ['/certificates', { name: 'shop', pem: [key] }],
    ['/certificates', { name: 'shop', pem: freshCertificate(), key }],
    ['/certificates', { name: 'shop', pem: `\0${key}` }],
    [`/certificates/${id}/revoke`, { reason: key.slice(0, 1_000) }],
  ]
  for (const [path, body] of refused) {
    const headers = { 'idempotency-key': randomUUID() }
    assert.equal((await call('POST', path, { body, headers })).status, 400, path)
  }
  assert.equal((await call('GET', `/certificates/${id}/pem`)).status, 200)
}

/** What everybody with a role, or nobody, may read. */
async function readEverything(call: Call): Promise<void> {
  for (const path of [
    '/health',
    '/metrics',
    '/openapi.json',
    '/users',
    '/orders',
    '/messages?limit=1000',
    '/alerts',
    '/menus?all=true',
    '/certificates',
    '/webhooks',
    '/audit?limit=1000',
    '/audit/export',
    '/nothing',
  ])
    await call('GET', path)
}

test('no secret shows in what the platform says, keeps or sends, used well or badly', async (t: TestContext) => {
  const scope = scopeOf(t)
  const canaries = createCanaries()
  const directory = scope.use(temporaryDirectory())
  const [right, wrong] = [
    canaries.plant('the password of the bus'),
    canaries.plant('a wrong password of the bus'),
  ]
  const nats = await startNats({
    jetstream: false,
    config: `authorization { users = [{user: platform, password: ${JSON.stringify(right)}}, {user: reader}] }\nno_auth_user: reader`,
  })
  scope.defer(() => nats.stop())
  const listener = scope.use(await listenTo(nats.url, ['>']))
  const env = secretSettings(canaries)
  const serve = async (password: string) =>
    scope.use(
      await servePlatform({
        dataDir: directory.path,
        env: { ...env, BUS_SERVER: `nats://${login(password)}@127.0.0.1:${nats.port}` },
      }),
    )

  const shutOut = await serve(wrong)
  const first = recorder(shutOut)
  await eventually(
    'the bus to refuse the password',
    () => /[Aa]uthori[sz]ation/.test(JSON.stringify(shutOut.logs())),
    DEADLINE,
  )
  await useSecrets(shutOut, first.call, canaries)
  await usePrivateKey(first.call, canaries)
  await first.call('POST', '/orders', {
    body: { order_id: 'o-1', platform: 'live', amount_cents: 1, expires_at: '2026-01-01T00:00:00Z' },
  })
  await readEverything(first.call)
  assertNoTraces(canaries, shutOut, first.answers)
  assert.equal(await shutOut.stop(), 0)

  const connected = await serve(right)
  const second = recorder(connected)
  await eventually(
    'the events to arrive',
    () => listener.connections.flat().some(({ subject }) => subject === 'order.created'),
    DEADLINE,
  )
  await readEverything(second.call)
  assertNoTraces(canaries, connected, second.answers)
  canaries.assertNone(JSON.stringify(listener.connections), 'a message on the bus')
  assert.equal(await connected.stop(), 0)
  canaries.assertNone(connected.stderr(), 'standard error at the end')
})

test('what the files keep of passwords, tokens and private keys does not show them', async (t: TestContext) => {
  const scope = scopeOf(t)
  const canaries = createCanaries()
  const directory = scope.use(temporaryDirectory())
  const platform = scope.use(await servePlatform({ dataDir: directory.path, env: secretSettings(canaries) }))
  const password = canaries.plant('a password')
  const body = { name: 'ada', password, roles: ['admin'] }
  assert.equal(
    (await platform.call('POST', '/users', { body, headers: { 'idempotency-key': randomUUID() } })).status,
    201,
  )
  const answer = await platform.call('POST', '/auth/login', { body: { username: 'ada', password } })
  const { access_token: token, user } = (await answer.json()) as {
    access_token: string
    user: { id: string }
  }
  canaries.add('a token', token)
  assert.equal(answer.status, 200)
  const { call, answers } = recorder(platform)
  await useApiToken(platform, call, canaries, user.id)
  await usePrivateKey(call, canaries)
  assertNoTraces(canaries, platform, answers)
  const files = ['platform.db*', 'certs/*'].flatMap((pattern) => globSync(join(directory.path, pattern)))
  assert.ok(files.some((path) => path.endsWith('.pem')))
  for (const path of files) canaries.assertNone(readFileSync(path, 'latin1'), path)
})

test('a database that goes away, or was never there, does not cost its password', async (t: TestContext) => {
  const scope = scopeOf(t)
  const canaries = createCanaries()
  const directory = scope.use(temporaryDirectory())
  const database = await createTestDatabase()
  scope.defer(() => database.drop())
  const url = new URL(database.url)
  url.password = canaries.plant('the password of the database')
  const env = { ...secretSettings(canaries), DATABASE_URL: url.href }
  const platform = scope.use(await servePlatform({ dataDir: directory.path, env }))
  const { call, answers } = recorder(platform)
  await useSecrets(platform, call, canaries)
  await database.drop()
  await eventually('the store to fail', async () => (await call('GET', '/orders')).status === 503, DEADLINE)
  await readEverything(call)
  assertNoTraces(canaries, platform, answers)

  for (const address of [
    `postgres://${login(canaries.plant('a password'))}@127.0.0.1:1/platform`,
    `postgres://127.0.0.1:1/platform?password=${canaries.plant('another password')}`,
  ]) {
    for (const args of [['serve'], ['db', 'status'], ['user', 'list']]) {
      const { code, stdout, stderr } = await runPlatform(args, {
        dataDir: directory.path,
        env: { ...env, DATABASE_URL: address },
      })
      assert.notEqual(code, 0)
      canaries.assertNone(stdout + stderr, `what ${args.join(' ')} says`)
    }
  }
})

test('no command prints a secret, neither of a good configuration nor of a broken one', async () => {
  const canaries = createCanaries()
  using directory = temporaryDirectory()
  const env = {
    ...secretSettings(canaries),
    DATABASE_URL: `postgres://${login(canaries.plant('the password of the database'))}@127.0.0.1:1/platform`,
    BUS_SERVER: `nats://${login(canaries.plant('the password of the bus'))}@127.0.0.1:1`,
  }
  const run = async (args: readonly string[], more: Record<string, string> = env, input = '') => {
    const { code, stdout, stderr } = await runPlatform(args, { dataDir: directory.path, env: more, input })
    canaries.assertNone(stdout + stderr, `what ${args.join(' ')} says`)
    return code
  }
  assert.equal(await run(['config']), 0)
  const broken = {
    JWT_SECRET: (secret: string) => secret.slice(0, 31),
    ALERT_ROBOT_URL: (secret: string) => `robot://${secret}`,
    DATABASE_URL: (secret: string) => `mysql://platform:${secret}@127.0.0.1/platform`,
    BUS_SERVER: (secret: string) => `http://platform:${secret}@127.0.0.1`,
    TOKEN_TTL: (secret: string) => `//platform:${secret}@127.0.0.1`,
  }
  for (const [name, breaking] of Object.entries(broken))
    assert.equal(
      await run(['config'], { ...env, [name]: breaking(canaries.plant(`a broken ${name}`)) }),
      2,
      name,
    )
  const typed = canaries.plant('a password that was typed')
  assert.equal(await run(['db', 'migrate'], {}), 0)
  assert.equal(await run(['user', 'add', 'ada', '--role', 'admin'], {}, `${typed}\n`), 0)
  assert.equal(await run(['user', 'add', 'ada', '--role', 'admin'], {}, `${typed}\n`), 1)
  assert.equal(
    await run(['user', 'passwd', 'ada'], {}, `${canaries.plant('a password too long')}${'x'.repeat(300)}\n`),
    2,
  )
  writeFileSync(
    join(directory.path, 'platform.toml'),
    `auth.jwt_secret = "${canaries.plant('a secret in a broken file')}\n`,
  )
  assert.equal(await run(['config'], {}), 2)
})
