import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { eventually } from '../support/eventually.ts'
import { runPlatform, servePlatform, temporaryDirectory, type CommandResult } from '../support/platform.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { scopeOf } from '../support/scope.ts'

const PASSWORD = 'correct horse battery'
const OTHER_PASSWORD = 'staple battery horse'
const NEWER_STEP = "insert into schema_migrations (name, breaking, applied_at) values ('9999-newer', 1, 0)"

type Environment = Readonly<Record<string, string>>

/** A directory that is also the data directory, and the commands that run in it. */
function world(t: TestContext, env: Environment = {}) {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  return {
    dataDir,
    database: join(dataDir, 'platform.db'),
    files: () => readdirSync(dataDir).sort(),
    run: (args: readonly string[], more: { env?: Environment; input?: string } = {}) =>
      runPlatform(args, { dataDir, ...more, env: { LISTEN_ADDR: '127.0.0.1:0', ...env, ...more.env } }),
    async serve(more: Environment = {}, modules = 'all') {
      const served = await servePlatform({ dataDir, modules, env: { ...env, ...more } })
      return scope.use(served)
    },
  }
}

/** The same with a database. */
async function worldWithDatabase(t: TestContext): Promise<ReturnType<typeof world>> {
  const made = world(t)
  succeeded(await made.run(['db', 'migrate']))
  return made
}

async function postgresUrl(t: TestContext): Promise<string> {
  const { url, drop } = await createTestDatabase()
  t.after(drop)
  return url
}

/** Asserts that the command ended with 0 and printed no error; returns what it printed. */
function succeeded({ code, stdout, stderr }: CommandResult): string {
  assert.equal(code, 0, `${stdout}\n${stderr}`)
  assert.equal(stderr, '')
  return stdout
}

/** Asserts that the command ended with this code and one line that gives the reason. */
function refused({ code, stderr }: CommandResult, expectedCode: 1 | 2, reason: RegExp): void {
  assert.equal(code, expectedCode, stderr)
  assert.match(stderr, reason)
  assert.match(stderr, /^[^\n]+\n$/, 'one line')
}

/** The names of the commands in a help text. */
function commandsIn(help: string): string[] {
  const lines = help.slice(help.indexOf('\nCommands:\n')).split('\n')
  return lines.flatMap((line) => /^ {2}([a-z-]+)/.exec(line)?.[1] ?? [])
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

describe('the command line', { concurrency: 4 }, () => {
  test('help lists every command, and describes each one that it lists', async (t) => {
    const { run, files } = world(t)
    const commands = commandsIn(succeeded(await run(['help'])))
    for (const name of ['serve', 'config', 'db', 'user', 'token', 'version', 'help']) {
      assert.ok(commands.includes(name), `${name} is missing`)
    }
    await Promise.all(
      commands.map(async (name) => {
        const help = succeeded(await run(['help', name]))
        assert.match(help, new RegExp(`^Usage: platform ${name}`))
      }),
    )
    assert.deepEqual(files(), [])
  })

  test('help describes the commands of a group', async (t) => {
    const { run } = world(t)
    assert.deepEqual(commandsIn(succeeded(await run(['help', 'user']))), [
      'add',
      'list',
      'passwd',
      'disable',
      'enable',
      'role',
      'delete',
    ])
    assert.deepEqual(commandsIn(succeeded(await run(['help', 'db']))), ['migrate', 'status'])
    assert.deepEqual(commandsIn(succeeded(await run(['help', 'token']))), ['issue'])
    assert.match(succeeded(await run(['help', 'user', 'add'])), /^Usage: platform user add .*<name>/)
  })

  test('version prints the release and the version of Node.js', async (t) => {
    const { run } = world(t)
    assert.match(succeeded(await run(['version'])), /^platform \d+\.\d+\.\d+ \(Node\.js v\d+\.\d+\.\d+\)\n$/)
  })

  const WRONG_USAGE: readonly (readonly [args: readonly string[], named: RegExp])[] = [
    [['bogus'], /'bogus'/],
    [['help', 'bogus'], /'bogus'/],
    [['help', 'user', 'bogus'], /'bogus'/],
    [['serve', '--bogus'], /'--bogus'/],
    [['serve', 'extra'], /extra/],
    [['serve', '--config'], /--config/],
    [['serve', '--config', 'none.toml'], /--config.*"none\.toml"/],
    [['serve', '--module', 'api,gatway'], /--module.*api,gatway/],
    [['config', 'extra'], /extra/],
    [['db', 'bogus'], /'bogus'/],
    [['user', 'add', '--role', 'admin'], /'name'/],
    [['user', 'add', 'ann'], /--role/],
    [['user', 'add', 'ann', '--role', 'king'], /'king'/],
    [['user', 'add', 'ann', '--role', 'admin', '--password', PASSWORD], /--password/],
    [['user', 'role', 'ann'], /'role'/],
    [['user', 'role', 'ann', 'admin', 'king'], /'king'/],
    [['user', 'delete'], /'name'/],
    [['user', 'delete', 'ann', 'ben'], /too many arguments/],
    [['token', 'issue', 'ann', '--ttl', 'soon'], /--ttl.*"soon"/],
    [['token', 'issue', 'ann', '--ttl', '0s'], /--ttl.*"0s"/],
    [['token', 'issue', 'ann', '--ttl', '31d'], /--ttl: expected .* to 30d, got "31d"/],
  ]
  for (const [args, named] of WRONG_USAGE) {
    test(`"platform ${args.join(' ')}" is refused with the reason, and creates no file`, async (t) => {
      const { run, files } = world(t)
      const result = await run(args, { input: `${PASSWORD}\n` })
      refused(result, 2, named)
      assert.doesNotMatch(result.stdout, /"level":"(?!info)/)
      assert.deepEqual(files(), [])
    })
  }
})

describe('the configuration', { concurrency: 4 }, () => {
  test('config shows each value with its source, and no secret', async (t) => {
    const { run, dataDir, files } = world(t)
    const file = join(dataDir, 'platform.toml')
    writeFileSync(
      file,
      '[orders]\nexpiry = "30m"\n[auth]\njwt_secret = "from-the-file-0123456789-0123456789"\n',
    )
    const env = {
      ORDER_EXPIRY: '45m',
      TOKEN_TTL: '2h',
      DATABASE_URL: 'postgres://shop:geheim@db.example/shop',
      BUS_SERVER: 'nats://bus:geheim@bus.example:4222',
    }
    const table = succeeded(await run(['config'], { env }))
    const rows = new Map(table.split('\n').map((line) => [line.split(/\s{2,}/)[0] ?? '', line]))
    assert.match(rows.get('KEY') ?? '', /VALUE +SOURCE/)
    assert.match(rows.get('orders.expiry') ?? '', /45m +environment ORDER_EXPIRY$/)
    assert.match(rows.get('auth.token_ttl') ?? '', /2h +environment TOKEN_TTL$/)
    assert.match(rows.get('worker.order_scan') ?? '', /5s +default$/)
    assert.match(rows.get('auth.jwt_secret') ?? '', /\*\*redacted\*\* +file .*platform\.toml:4$/)
    assert.match(rows.get('database.url') ?? '', /db\.example\/shop +environment DATABASE_URL$/)
    assert.doesNotMatch(table, /geheim|from-the-file/)
    assert.deepEqual(files(), ['platform.toml'])
  })

  test('a bad file is refused with every problem and its line', async (t) => {
    const { run, dataDir, files } = world(t)
    writeFileSync(
      join(dataDir, 'bad.toml'),
      'modul = "api"\n[orders]\nexpiry = "soon"\n[auth]\njwt_secret = "short-secret"\ntoken_ttl = 5\n',
    )
    const { code, stdout, stderr } = await run(['serve', '--config', 'bad.toml'])
    assert.equal(code, 2)
    assert.equal(stdout, '')
    const lines = stderr.trimEnd().split('\n')
    const places = lines.map((line) => /^file bad\.toml:\d+: [a-z_.]+(?=: expected )/.exec(line)?.[0])
    assert.deepEqual(
      new Set(places),
      new Set([
        'file bad.toml:1: modul',
        'file bad.toml:3: orders.expiry',
        'file bad.toml:5: auth.jwt_secret',
        'file bad.toml:6: auth.token_ttl',
      ]),
    )
    assert.match(stderr, /did you mean module/)
    assert.doesNotMatch(stderr, /short-secret/)
    assert.deepEqual(files(), ['bad.toml'])
  })

  test('platform.toml of the working directory is read by default', async (t) => {
    const { run, dataDir } = world(t)
    writeFileSync(join(dataDir, 'platform.toml'), 'read_only = "perhaps"\n')
    refused(await run(['config']), 2, /file .*platform\.toml:1: read_only: expected .*, got "perhaps"/)
  })
})

for (const engine of ['sqlite', 'postgres'] as const) {
  describe(`the schema on ${engine}`, { concurrency: 2 }, () => {
    const databaseEnvironment = async (t: TestContext): Promise<Environment> =>
      engine === 'postgres' ? { DATABASE_URL: await postgresUrl(t) } : {}

    test('db migrate brings it up to date, and db status shows that', async (t) => {
      const { run, database } = world(t, await databaseEnvironment(t))
      if (engine === 'sqlite') onSqlite(database, 'vacuum')
      assert.match(succeeded(await run(['db', 'status'])), /^STEP +STATE\n0001-foundation +pending\n/)
      assert.match(succeeded(await run(['db', 'migrate'])), /^applied 0001-foundation/)
      assert.equal(succeeded(await run(['db', 'migrate'])), 'the schema is up to date\n')
      const status = succeeded(await run(['db', 'status']))
      assert.match(status, /0001-foundation +applied \d{4}-\d\d-\d\dT[\d:.]+Z\n/)
      assert.doesNotMatch(status, /pending/)
    })

    test('a database with a breaking step of a newer release is refused', async (t) => {
      const env = await databaseEnvironment(t)
      const { run, database } = world(t, env)
      succeeded(await run(['db', 'migrate']))
      if (env['DATABASE_URL']) await onPostgres(env['DATABASE_URL'], NEWER_STEP)
      else onSqlite(database, NEWER_STEP)
      const commands = [['serve'], ['db', 'migrate'], ['user', 'list']]
      for (const result of await Promise.all(commands.map((args) => run(args)))) {
        refused(result, 1, /newer release \(9999-newer\)/)
      }
    })
  })
}

async function onPostgres(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}

function onSqlite(path: string, statement: string): void {
  const database = new DatabaseSync(path)
  database.exec(statement)
  database.close()
}

describe('without a database', { concurrency: 4 }, () => {
  const COMMANDS = [
    ['db', 'status'],
    ['user', 'list'],
    ['user', 'add', 'ann', '--role', 'admin'],
    ['user', 'disable', 'ann'],
    ['user', 'role', 'ann', 'admin'],
    ['user', 'delete', 'ann'],
    ['token', 'issue', 'ann'],
  ]
  for (const args of COMMANDS) {
    test(`"platform ${args.join(' ')}" creates none, and names the path and the setting`, async (t) => {
      const { run, database, files } = world(t)
      const result = await run(args, { input: `${PASSWORD}\n` })
      const expected = `no database at ${database} (data_dir: environment DATA_DIR). Run "platform db migrate"`
      refused(result, 1, new RegExp(RegExp.escape(expected)))
      assert.deepEqual(files(), [])
    })
  }

  test('the setting is database.url when that is set', async (t) => {
    const { run, dataDir, files } = world(t)
    writeFileSync(join(dataDir, 'platform.toml'), 'database.url = "shop.db"\n')
    refused(await run(['user', 'list']), 1, /shop\.db \(database\.url: file platform\.toml:1\)/)
    assert.deepEqual(files(), ['platform.toml'])
  })

  for (const engine of ['sqlite', 'postgres'] as const) {
    test(`an empty database is refused and stays empty: ${engine}`, async (t) => {
      const env: Environment = engine === 'postgres' ? { DATABASE_URL: await postgresUrl(t) } : {}
      const { run, database } = world(t, env)
      if (engine === 'sqlite') onSqlite(database, 'vacuum')
      refused(await run(['user', 'list']), 1, /no schema in the database .*Run "platform db migrate"/)
      assert.match(succeeded(await run(['db', 'status'])), /0001-foundation +pending/)
    })
  }
})

describe('users and tokens without the API', { concurrency: 4 }, () => {
  const add = (name: string, role = 'admin') => ['user', 'add', name, '--role', role]
  const input = `${PASSWORD}\n`

  test('add, list, passwd, disable and enable work beside a running server', async (t) => {
    const { run, serve } = await worldWithDatabase(t)
    const added = succeeded(await run(add('Ann'), { input }))
    assert.match(added, /created the user Ann with admin/)
    succeeded(await run(['user', 'add', 'ben', '--role', 'service', 'auditor'], { input }))
    const platform = await serve()
    assert.doesNotMatch(platform.stderr(), /First start/, 'there are users already')
    const login = (username: string, password: string) =>
      platform.call('POST', '/auth/login', { body: { username, password } })
    assert.equal((await login('ann', PASSWORD)).status, 200)
    assert.equal((await login('ben', PASSWORD)).status, 200)

    assert.match(
      succeeded(await run(['user', 'passwd', 'ben'], { input: `${OTHER_PASSWORD}\n` })),
      /password of ben/,
    )
    assert.equal((await login('ben', PASSWORD)).status, 401)
    assert.equal((await login('ben', OTHER_PASSWORD)).status, 200)

    assert.match(succeeded(await run(['user', 'disable', 'BEN'])), /disabled/)
    assert.equal((await login('ben', OTHER_PASSWORD)).status, 401)
    const list = succeeded(await run(['user', 'list'])).split('\n')
    assert.match(list[0] ?? '', /^NAME +ROLES +STATE +LAST LOGIN$/)
    assert.match(list[1] ?? '', /^Ann +admin +enabled +\d{4}-/)
    assert.match(list[2] ?? '', /^ben +service,auditor +disabled +\d{4}-/)

    assert.match(succeeded(await run(['user', 'enable', 'ben'])), /enabled/)
    assert.equal((await login('ben', OTHER_PASSWORD)).status, 200)
  })

  test('a weak password, no password, a bad name and a name in use are refused', async (t) => {
    const { run } = await worldWithDatabase(t)
    refused(await run(add('ann b'), { input }), 2, /name/)
    refused(await run(add('ann'), { input: 'short\n' }), 2, /password.*12/)
    refused(await run(add('ann'), { input: 'password1234\n' }), 2, /password/)
    refused(await run(add('ann'), { input: '' }), 2, /standard input/)
    succeeded(await run(add('ann'), { input }))
    refused(await run(add('ANN', 'service'), { input }), 1, /Another user has the name "ANN"/)
    refused(await run(['user', 'passwd', 'ann'], { input: 'short\n' }), 2, /password.*12/)
  })

  test('role replaces all roles, and delete removes the user, beside a running server', async (t) => {
    const { run, serve } = await worldWithDatabase(t)
    succeeded(await run(add('ann'), { input }))
    succeeded(await run(add('Ben', 'service'), { input }))
    const platform = await serve({}, 'api')
    const login = () =>
      platform.call('POST', '/auth/login', { body: { username: 'ben', password: PASSWORD } })

    const changed = await run(['user', 'role', 'BEN', 'auditor', 'devops', 'auditor'])
    assert.equal(succeeded(changed), 'Ben has the roles devops, auditor\n')
    assert.match(succeeded(await run(['user', 'list'])), /^Ben +devops,auditor +enabled/m)
    assert.equal((await login()).status, 200)

    assert.equal(succeeded(await run(['user', 'delete', 'BEN'])), 'deleted Ben\n')
    assert.doesNotMatch(succeeded(await run(['user', 'list'])), /Ben/)
    assert.equal((await login()).status, 401)
    succeeded(await run(add('ben', 'service'), { input }))
  })

  test('the last admin cannot be disabled or deleted, and cannot lose the role', async (t) => {
    const { run } = await worldWithDatabase(t)
    const attempts = (name: string) => [
      ['user', 'disable', name],
      ['user', 'delete', name],
      ['user', 'role', name, 'service', 'auditor'],
    ]
    succeeded(await run(add('ann'), { input }))
    for (const args of attempts('ann')) refused(await run(args), 1, /ann is the last enabled admin/)
    succeeded(await run(['user', 'role', 'ann', 'admin', 'service']))
    succeeded(await run(add('ben'), { input }))
    succeeded(await run(['user', 'disable', 'ann']))
    for (const args of attempts('ben')) refused(await run(args), 1, /ben is the last enabled admin/)
    succeeded(await run(['user', 'delete', 'ann']))
  })

  test('an unknown user is an error that names the user', async (t) => {
    const { run } = await worldWithDatabase(t)
    for (const args of [
      ['user', 'passwd', 'nobody'],
      ['user', 'disable', 'nobody'],
      ['user', 'enable', 'nobody'],
      ['user', 'role', 'nobody', 'admin'],
      ['user', 'delete', 'nobody'],
      ['token', 'issue', 'nobody'],
    ]) {
      refused(await run(args, { input }), 1, /no user "nobody"/)
    }
  })

  test('a token is not issued before there is a key that a server verifies it with', async (t) => {
    const { run, files } = await worldWithDatabase(t)
    succeeded(await run(add('ann'), { input }))
    refused(await run(['token', 'issue', 'ann']), 1, /no signing key in .*platform serve/)
    assert.ok(!files().includes('jwt-secret'))
  })

  test('a token works at a running server, for its lifetime and until its user is disabled', async (t) => {
    const { run, serve } = await worldWithDatabase(t)
    succeeded(await run(add('ann'), { input }))
    succeeded(await run(add('ben', 'devops'), { input }))
    const platform = await serve()
    const token = succeeded(await run(['token', 'issue', 'ben', '--ttl', '5m'])).trimEnd()
    const me = () => fetch(`${platform.url}/auth/me`, { headers: { authorization: `Bearer ${token}` } })
    const answer = await me()
    assert.equal(answer.status, 200)
    assert.match(await answer.text(), /"ben"/)
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      number
    >
    const seconds = Number(claims['exp']) - Number(claims['iat'])
    assert.ok(seconds === 300 || seconds === 301, `${seconds} s: whole seconds, and not less than --ttl`)

    succeeded(await run(['user', 'disable', 'ben']))
    await eventually('the token to stop working', async () => (await me()).status === 401)
    refused(await run(['token', 'issue', 'ben']), 1, /ben is disabled/)
  })
})

describe('a failed start', { concurrency: 4 }, () => {
  test('names the setting of a port in use, on standard error and in the log', async (t) => {
    const { run } = await worldWithDatabase(t)
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    t.after(() => other.close())
    const { port } = other.address() as AddressInfo
    succeeded(await run(['user', 'add', 'ann', '--role', 'admin'], { input: `${PASSWORD}\n` }))
    const inUse: readonly (readonly [setting: string, module: string, variable: string])[] = [
      ['api.listen', 'api', 'LISTEN_ADDR'],
      ['gateway.listen', 'all', 'GATEWAY_LISTEN_ADDR'],
      ['worker.listen', 'worker', 'WORKER_LISTEN_ADDR'],
    ]
    for (const [setting, module, variable] of inUse) {
      const env = { MODULE: module, [variable]: `127.0.0.1:${port}` }
      const result = await run(['serve'], { env })
      const reason = `${setting}: cannot listen on 127.0.0.1:${port}: another program uses this port (EADDRINUSE).`
      refused(result, 1, new RegExp(RegExp.escape(reason)))
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

  test('shows no password when the port of the api is in use', async (t) => {
    const { run } = await worldWithDatabase(t)
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    t.after(() => other.close())
    const { port } = other.address() as AddressInfo
    refused(await run(['serve'], { env: { LISTEN_ADDR: `127.0.0.1:${port}` } }), 1, /^platform: api\.listen/)
    assert.equal(
      succeeded(await run(['user', 'list']))
        .trimEnd()
        .split('\n').length,
      1,
      'there is no user',
    )
  })

  const COMMANDS = [['serve'], ['db', 'status'], ['user', 'list']]

  test('one line names a PostgreSQL server that does not answer', async (t) => {
    const { run } = world(t, { DATABASE_URL: 'postgres://shop:geheim@127.0.0.1:1/orders' })
    for (const result of await Promise.all(COMMANDS.map((args) => run(args)))) {
      refused(result, 1, /127\.0\.0\.1:1\/orders.*ECONNREFUSED/)
      assert.doesNotMatch(result.stdout + result.stderr, /geheim/)
    }
  })

  test('one line names a PostgreSQL database that does not exist', async (t) => {
    const url = new URL(await postgresUrl(t))
    url.pathname = '/nowhere'
    const { run } = world(t, { DATABASE_URL: url.href })
    for (const result of await Promise.all(COMMANDS.map((args) => run(args)))) {
      refused(result, 1, /\/nowhere.*does not exist/)
    }
  })

  test('one line names a SQLite file that is not a database', async (t) => {
    const { run, database } = world(t)
    writeFileSync(database, 'not a database, but long enough for a header that could be one.'.repeat(20))
    refused(await run(['serve']), 1, /platform\.db.*not a database/)
  })
})

describe('a read-only platform', { concurrency: 2 }, () => {
  const READ_ONLY = { READ_ONLY: 'true' }

  test('does not start without a database, and creates none', async (t) => {
    const { run, files } = world(t)
    refused(await run(['serve'], { env: READ_ONLY }), 1, /platform\.db.*db migrate/)
    refused(await run(['user', 'list'], { env: READ_ONLY }), 1, /platform\.db.*db migrate/)
    assert.deepEqual(files(), [])
  })

  test('does not start on an outdated schema, and leaves it as it is', async (t) => {
    const { run, database } = world(t)
    succeeded(await run(['db', 'migrate']))
    onSqlite(database, 'delete from schema_migrations')
    const before = hashOf(database)
    refused(await run(['serve'], { env: READ_ONLY }), 1, /0001-foundation.*db migrate/)
    assert.equal(hashOf(database), before)
  })

  test('reads, accepts logins, refuses every change, and writes nothing', async (t) => {
    const { run, serve, database, files } = await worldWithDatabase(t)
    succeeded(await run(['user', 'add', 'ann', '--role', 'admin'], { input: `${PASSWORD}\n` }))
    const before = await serve({}, 'api')
    const overdue = { order_id: 'o-1', platform: 'live', amount_cents: 1, expires_at: '2026-01-01T00:00:00Z' }
    assert.equal((await before.call('POST', '/orders', { body: overdue })).status, 201)
    assert.equal(await before.stop(), 0)
    assert.deepEqual(files(), ['jwt-secret', 'platform.db'], 'the last run left no other files')
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

describe('the log of a start', { concurrency: 2 }, () => {
  test('the line "started" has the URL of every listener', async (t) => {
    const { serve } = world(t)
    const platform = await serve({ WORKER_LISTEN_ADDR: '127.0.0.1:0' })
    const lineOf = (message: string) => platform.logs().find((line) => line.message === message)
    assert.equal(lineOf('starting')?.['read_only'], false)
    const { url: api, gatewayUrl: gateway, workerUrl: worker } = platform
    assert.deepEqual(lineOf('started')?.['addresses'], { api, gateway, worker })
    for (const url of [api, gateway, worker]) assert.equal((await fetch(`${url}/health`)).status, 200)
  })

  test('a bus that is away is a warning, with a hint when it belongs on this host', async (t) => {
    const { serve } = world(t)
    const hintOf = async (server: string) => {
      const platform = await serve({ BUS_SERVER: server }, 'api')
      const warning = await eventually('the warning', () =>
        platform.logs().find(({ message }) => message.startsWith('not connected to the message bus')),
      )
      await platform.stop()
      return warning['hint']
    }
    assert.equal(await hintOf('nats://127.0.0.1:1'), 'nats-server -p 1 -js')
    assert.equal(await hintOf('nats://bus.invalid:4222'), undefined)
  })
})
