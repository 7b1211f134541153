import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { MIGRATIONS } from '../../src/store/migrate.ts'
import { eventually } from '../support/eventually.ts'
import { runPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'
import {
  commandWorld,
  onSqlite,
  PASSWORD,
  postgresUrl,
  assertRefusal,
  assertSuccess,
  worldWithDatabase,
} from '../support/platform-commands.ts'
import { scopeOf } from '../support/scope.ts'
import { killUnattended, UNATTENDED } from '../support/zombie.ts'

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

// The worker writes it when it has sealed the first rows.
const withoutSeal = (names: readonly string[]) => names.filter((name) => name !== 'audit-seal')

describe('a failed start', { concurrency: 4 }, () => {
  test('names the setting of a port in use, on standard error and in the log', async (t) => {
    const { run } = await worldWithDatabase(t)
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    t.after(() => other.close())
    const { port } = other.address() as AddressInfo
    assertSuccess(await run(['user', 'add', 'ann', '--role', 'admin'], { input: `${PASSWORD}\n` }))
    const inUse: readonly (readonly [setting: string, module: string, variable: string])[] = [
      ['api.listen', 'api', 'LISTEN_ADDR'],
      ['gateway.listen', 'all', 'GATEWAY_LISTEN_ADDR'],
      ['worker.listen', 'worker', 'WORKER_LISTEN_ADDR'],
    ]
    for (const [setting, module, variable] of inUse) {
      const env = { MODULE: module, [variable]: `127.0.0.1:${port}` }
      const result = await run(['serve'], { env })
      const reason = `${setting}: cannot listen on 127.0.0.1:${port}: another program uses this port (EADDRINUSE); end that program (ss -ltnp shows it), or change ${setting}.`
      assertRefusal(result, 1, new RegExp(RegExp.escape(reason)))
      const lines = result.stdout.trimEnd().split('\n')
      // The bus, which is away, may be reported after it.
      const failures = lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ message }) => message === 'start failed')
      assert.deepEqual(
        failures.map((line) => [line['level'], line['reason']]),
        [['error', reason]],
      )
    }
  })

  test('puts no empty database in the place of a lost one', async (t) => {
    const { run, serve, files, database, dataDir } = commandWorld(t)
    await (await serve({}, 'api')).stop()
    rmSync(database)
    mkdirSync(join(dataDir, 'certs'))
    writeFileSync(join(dataDir, 'certs', 'a.pem'), 'a certificate')
    for (const args of [['serve'], ['db', 'migrate']])
      assertRefusal(await run(args), 1, /no database .*certs.*data restore FILE.*db migrate --new/)
    writeFileSync(database, '')
    assertRefusal(await run(['serve']), 1, /no database/)
    assert.deepEqual(withoutSeal(files()), [
      'audit-key',
      'certs',
      'identity-key',
      'jwt-secret',
      'platform.db',
    ])
    assertSuccess(await run(['db', 'migrate', '--new']))
    assert.equal(await (await serve({}, 'api')).stop(), 0)
  })

  test('starts with a key that was put there first, and says that the database may be lost', async (t) => {
    const { run, serve, dataDir, database } = commandWorld(t)
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(join(dataDir, 'jwt-secret'), randomBytes(48).toString('base64'), { mode: 0o600 })
    const first = await serve({}, 'api')
    assert.equal(await first.stop(), 0)
    const [notice] = first.logs().filter(({ level }) => level === 'warn')
    assert.match(notice?.message ?? '', /jwt-secret is there, and no database.*data restore FILE/)
    rmSync(database)
    rmSync(join(dataDir, 'audit-seal'), { force: true })
    const migrated = await run(['db', 'migrate'])
    assert.match(`${migrated.code} ${migrated.stderr}`, /^0 platform: .*jwt-secret is there, and no database/)
  })

  test('generates no key in the place of a lost one, unless one is configured', async (t) => {
    const { run, serve, files, dataDir } = commandWorld(t)
    await (await serve({}, 'api')).stop()
    rmSync(join(dataDir, 'jwt-secret'))
    assertRefusal(await run(['serve']), 1, /signing key .*jwt-secret is gone.*db migrate --new/)
    await (await serve({ JWT_SECRET: randomBytes(48).toString('base64') }, 'api')).stop()
    assert.deepEqual(withoutSeal(files()), ['audit-key', 'identity-key', 'platform.db'])
    assertSuccess(await run(['db', 'migrate', '--new']))
    assert.equal(await (await serve({}, 'api')).stop(), 0)
  })

  test('has the priority of an error in the journal, in its log and on standard error', async (t) => {
    const dataDir = scopeOf(t).use(temporaryDirectory()).path
    mkdirSync(join(dataDir, 'platform.db'))
    const failure = (fd: number) => {
      const journal = `export JOURNAL_STREAM=$(stat -L -c %d:%i /proc/$$/fd/${fd}); exec "$@"`
      return runPlatform(['serve'], { dataDir, wrapper: ['bash', '-c', journal, 'bash'] })
    }
    assert.match((await failure(1)).stdout, /^<3>\{"level":"error".*"start failed"/m)
    assert.match((await failure(2)).stderr, /^<3>platform: /)
  })

  test('names gateway.name while another gateway of that name runs', async (t) => {
    const { serve, run } = commandWorld(t)
    const { gatewayUrl } = await serve()
    const { host } = new URL(gatewayUrl)
    const env = { LISTEN_ADDR: '127.0.0.1:0', GATEWAY_LISTEN_ADDR: '127.0.0.1:0' }
    const result = await run(['serve'], { env })
    assertRefusal(
      result,
      1,
      new RegExp(`^platform: gateway\\.name: .* in use by the gateway at ${RegExp.escape(host)}`),
    )
    assert.doesNotMatch(result.stderr, /cannot listen/)
  })

  test('shows no password when the port of the api is in use', async (t) => {
    const { run } = await worldWithDatabase(t)
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    t.after(() => other.close())
    const { port } = other.address() as AddressInfo
    assertRefusal(
      await run(['serve'], { env: { LISTEN_ADDR: `127.0.0.1:${port}` } }),
      1,
      /^platform: api\.listen/,
    )
    assert.equal(
      assertSuccess(await run(['user', 'list']))
        .trimEnd()
        .split('\n').length,
      1,
      'there is no user',
    )
  })

  const COMMANDS = [['serve'], ['db', 'status'], ['user', 'list']]

  test('one line names a PostgreSQL server that does not answer', async (t) => {
    const { run } = commandWorld(t, { DATABASE_URL: 'postgres://shop:geheim@127.0.0.1:1/orders' })
    for (const result of await Promise.all(COMMANDS.map((args) => run(args)))) {
      assertRefusal(result, 1, /127\.0\.0\.1:1\/orders.*ECONNREFUSED/)
      assert.doesNotMatch(result.stdout + result.stderr, /geheim/)
    }
  })

  test('one line names a PostgreSQL database that does not exist', async (t) => {
    const url = new URL(await postgresUrl(t))
    url.pathname = '/nowhere'
    const { run } = commandWorld(t, { DATABASE_URL: url.href })
    for (const result of await Promise.all(COMMANDS.map((args) => run(args)))) {
      assertRefusal(result, 1, /\/nowhere.*does not exist/)
    }
  })

  test('one line names a SQLite file that is not a database', async (t) => {
    const { run, database } = commandWorld(t)
    writeFileSync(database, 'not a database, but long enough for a header that could be one.'.repeat(20))
    assertRefusal(await run(['serve']), 1, /platform\.db.*not a database/)
  })
})

describe('a read-only platform', { concurrency: 2 }, () => {
  const READ_ONLY = { READ_ONLY: 'true' }

  test('does not start without a database, and creates none', async (t) => {
    const { run, files } = commandWorld(t)
    assertRefusal(await run(['serve'], { env: READ_ONLY }), 1, /platform\.db.*db migrate/)
    assertRefusal(await run(['user', 'list'], { env: READ_ONLY }), 1, /platform\.db.*db migrate/)
    assert.deepEqual(files(), [])
  })

  test('does not start on an outdated schema, and leaves it as it is', async (t) => {
    const { run, database } = commandWorld(t)
    assertSuccess(await run(['db', 'migrate']))
    onSqlite(database, 'delete from schema_migrations')
    const before = hashOf(database)
    assertRefusal(await run(['serve'], { env: READ_ONLY }), 1, /0001-foundation.*db migrate/)
    assert.equal(hashOf(database), before)
  })

  test('reads, accepts logins, refuses every change, and writes nothing', async (t) => {
    const { run, serve, database, files } = await worldWithDatabase(t)
    assertSuccess(await run(['user', 'add', 'ann', '--role', 'admin'], { input: `${PASSWORD}\n` }))
    const before = await serve({}, 'api')
    const overdue = { order_id: 'o-1', platform: 'live', amount_cents: 1, expires_at: '2026-01-01T00:00:00Z' }
    assert.equal((await before.call('POST', '/orders', { body: overdue })).status, 201)
    assert.equal(await before.stop(), 0)
    assert.deepEqual(
      withoutSeal(files()),
      ['audit-key', 'identity-key', 'jwt-secret', 'platform.db'],
      'the last run left no other files',
    )
    const hash = hashOf(database)

    const platform = await serve({ ...READ_ONLY, WORKER_ORDER_SCAN: '10ms' })
    assert.equal(platform.logs().find(({ message }) => message === 'starting')?.['read_only'], true)
    const login = await platform.call('POST', '/auth/login', {
      body: { username: 'ann', password: PASSWORD },
    })
    assert.equal(login.status, 200)
    for (const [method, path] of await mutations(platform.url)) {
      const answer = await platform.call(method, path, { body: {} })
      assert.deepEqual([answer.status, codeOf(await answer.text())], [503, 'read_only'], `${method} ${path}`)
    }
    const health = (await (await platform.call('GET', '/health')).json()) as { status: string }
    assert.equal(health.status, 'degraded')
    const metrics = await (await platform.call('GET', '/metrics')).text()
    assert.doesNotMatch(metrics, /^platform_job_runs_total\{/m, 'no job runs')
    const order = (await (await platform.call('GET', '/orders/o-1')).json()) as { status: string }
    assert.equal(order.status, 'pending', 'the worker does not expire it')
    assert.equal(await platform.stop(), 0)
    assert.equal(hashOf(database), hash)
    // SQLite creates the file for a reader, which may not remove it.
    assert.equal(statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0, 0)

    const after = await serve({ WORKER_ORDER_SCAN: '10ms' })
    await eventually('the order to expire', async () => {
      return (await (await after.call('GET', '/orders/o-1')).text()).includes('"expired"')
    })
  })

  /** Every operation that changes something, as the API itself describes it. */
  async function mutations(url: string): Promise<[method: string, path: string][]> {
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>
    }
    const all = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method): [string, string] => [
        method.toUpperCase(),
        path.replace(/\{\w+\}/g, 'x'),
      ]),
    )
    // Logins work; a ticket to redeem comes from a sign-in, which is refused.
    const logins = ['/auth/login', '/auth/oauth/redeem']
    const changing = all.filter(([method, path]) => method !== 'GET' && !logins.includes(path))
    assert.ok(changing.length >= 10, `only ${changing.length} operations change something`)
    return changing
  }

  function codeOf(body: string): unknown {
    return (JSON.parse(body) as { code: unknown }).code
  }
})

test('a platform that was killed starts again at once, also while its parent has not noticed its end', async (t) => {
  const { dataDir } = commandWorld(t)
  const scope = scopeOf(t)
  const killed = scope.use(await servePlatform({ dataDir, wrapper: UNATTENDED }))
  await killUnattended(killed.pid)
  scope.use(await servePlatform({ dataDir }))
})

describe('the log of a start', { concurrency: 2 }, () => {
  test('the line "started" has the URL of every listener', async (t) => {
    const { serve } = commandWorld(t)
    const platform = await serve({ WORKER_LISTEN_ADDR: '127.0.0.1:0' })
    const lineOf = (message: string) => platform.logs().find((line) => line.message === message)
    assert.equal(lineOf('starting')?.['read_only'], false)
    assert.equal(lineOf('migrated the schema')?.['steps'], MIGRATIONS.map(({ name }) => name).join(' '))
    const { url: api, gatewayUrl: gateway, workerUrl: worker } = platform
    assert.deepEqual(lineOf('started')?.['addresses'], { api, gateway, worker })
    for (const url of [api, gateway, worker]) assert.equal((await fetch(`${url}/health`)).status, 200)
    assert.match(readFileSync(`/proc/${platform.pid}/comm`, 'utf8'), /^platform serve/)
  })

  test('a bus that is away is a warning, with the reason and what to do', async (t) => {
    const { serve } = commandWorld(t)
    const warningOf = async (server: string) => {
      const platform = await serve({ BUS_SERVER: server }, 'api')
      const warning = await eventually('the warning', () =>
        platform.logs().find(({ message }) => message.startsWith('not connected to the message bus')),
      )
      await platform.stop()
      return [warning['reason'], warning['hint']].join('; ')
    }
    assert.equal(
      await warningOf('nats://127.0.0.1:1'),
      'nats://127.0.0.1:1 cannot be reached: ECONNREFUSED; start it (nats-server -a 127.0.0.1 -p 1 -js -sd nats-data), or change bus.server',
    )
    assert.match(await warningOf('nats://bus.invalid:4222'), /; correct the host name in bus\.server/)
  })
})
