import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { Client } from 'pg'
import {
  commandWorld,
  onSqlite,
  PASSWORD,
  postgresUrl,
  assertRefusal,
  assertSuccess,
  type Environment,
} from '../support/platform-commands.ts'

const NEWER_STEP = "insert into schema_migrations (name, breaking, applied_at) values ('9999-newer', 1, 0)"

/** The names of the commands in a help text. */
function commandsIn(help: string): string[] {
  const lines = help.slice(help.indexOf('\nCommands:\n')).split('\n')
  return lines.flatMap((line) => /^ {2}([a-z-]+)/.exec(line)?.[1] ?? [])
}

describe('the command line', { concurrency: 4 }, () => {
  test('help lists every command, and describes each one that it lists', async (t) => {
    const { run, files } = commandWorld(t)
    const commands = commandsIn(assertSuccess(await run(['help'])))
    for (const name of ['serve', 'config', 'db', 'user', 'token', 'version', 'help']) {
      assert.ok(commands.includes(name), `${name} is missing`)
    }
    await Promise.all(
      commands.map(async (name) => {
        const help = assertSuccess(await run(['help', name]))
        assert.match(help, new RegExp(`^Usage: platform ${name}`))
      }),
    )
    assert.deepEqual(files(), [])
  })

  test('help describes the commands of a group', async (t) => {
    const { run } = commandWorld(t)
    assert.deepEqual(commandsIn(assertSuccess(await run(['help', 'user']))), [
      'add',
      'list',
      'passwd',
      'disable',
      'enable',
      'role',
      'delete',
    ])
    assert.deepEqual(commandsIn(assertSuccess(await run(['help', 'db']))), ['migrate', 'status', 'copy'])
    assert.deepEqual(commandsIn(assertSuccess(await run(['help', 'token']))), [
      'issue',
      'create',
      'list',
      'revoke',
    ])
    assert.match(assertSuccess(await run(['help', 'user', 'add'])), /^Usage: platform user add .*<name>/)
  })

  test('version prints the release and the version of Node.js', async (t) => {
    const { run } = commandWorld(t)
    assert.match(
      assertSuccess(await run(['version'])),
      /^platform \d+\.\d+\.\d+ \(Node\.js v\d+\.\d+\.\d+\)\n$/,
    )
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
      const { run, files } = commandWorld(t)
      const result = await run(args, { input: `${PASSWORD}\n` })
      assertRefusal(result, 2, named)
      assert.doesNotMatch(result.stdout, /"level":"(?!info)/)
      assert.deepEqual(files(), [])
    })
  }
})

test('a command that can never have a result ends with 1 and one line', async (t) => {
  const { run, dataDir } = commandWorld(t)
  // Without a database, `data verify` waits for this call next.
  const preload = join(dataDir, 'never.mjs')
  writeFileSync(
    preload,
    "import files from 'node:fs/promises'; import { syncBuiltinESMExports } from 'node:module'\n" +
      'files.open = () => new Promise(() => undefined); syncBuiltinESMExports()\n',
  )
  const result = await run(['data', 'verify', preload], { env: { NODE_OPTIONS: `--import=${preload}` } })
  assertRefusal(result, 1, /ended without a result/)
})

describe('the configuration', { concurrency: 4 }, () => {
  test('config shows each value with its source, and no secret', async (t) => {
    const { run, dataDir, files } = commandWorld(t)
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
    const table = assertSuccess(await run(['config'], { env }))
    const rows = new Map(table.split('\n').map((line) => [line.split(/\s{2,}/)[0] ?? '', line]))
    assert.match(rows.get('KEY') ?? '', /VALUE +SOURCE/)
    assert.match(
      rows.get('orders.expiry') ?? '',
      /45m +environment ORDER_EXPIRY, overrides file .*platform\.toml:2$/,
    )
    assert.match(rows.get('auth.token_ttl') ?? '', /2h +environment TOKEN_TTL$/)
    assert.match(rows.get('worker.order_scan') ?? '', /5s +default$/)
    assert.match(rows.get('auth.jwt_secret') ?? '', /\*\*redacted\*\* +file .*platform\.toml:4$/)
    assert.match(rows.get('database.url') ?? '', /db\.example\/shop +environment DATABASE_URL$/)
    assert.doesNotMatch(table, /geheim|from-the-file/)
    assert.deepEqual(files(), ['platform.toml'])
  })

  test('a bad file is refused with every problem and its line', async (t) => {
    const { run, dataDir, files } = commandWorld(t)
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
    const { run, dataDir } = commandWorld(t)
    writeFileSync(join(dataDir, 'platform.toml'), 'read_only = "perhaps"\n')
    assertRefusal(await run(['config']), 2, /file .*platform\.toml:1: read_only: expected .*, got "perhaps"/)
  })
})

for (const engine of ['sqlite', 'postgres'] as const) {
  describe(`the schema on ${engine}`, { concurrency: 2 }, () => {
    const databaseEnvironment = async (t: TestContext): Promise<Environment> =>
      engine === 'postgres' ? { DATABASE_URL: await postgresUrl(t) } : {}

    test('db migrate brings it up to date, and db status shows that', async (t) => {
      const { run, database } = commandWorld(t, await databaseEnvironment(t))
      if (engine === 'sqlite') onSqlite(database, 'vacuum')
      assert.match(assertSuccess(await run(['db', 'status'])), /^STEP +STATE\n0001-foundation +pending\n/)
      assert.match(assertSuccess(await run(['db', 'migrate'])), /^applied 0001-foundation/)
      assert.equal(assertSuccess(await run(['db', 'migrate'])), 'the schema is up to date\n')
      const status = assertSuccess(await run(['db', 'status']))
      assert.match(status, /0001-foundation +applied \d{4}-\d\d-\d\dT[\d:.]+Z\n/)
      assert.doesNotMatch(status, /pending/)
    })

    test('a database with a breaking step of a newer release is refused', async (t) => {
      const env = await databaseEnvironment(t)
      const { run, database } = commandWorld(t, env)
      assertSuccess(await run(['db', 'migrate']))
      if (env['DATABASE_URL']) await onPostgres(env['DATABASE_URL'], NEWER_STEP)
      else onSqlite(database, NEWER_STEP)
      const commands = [['serve'], ['db', 'migrate'], ['user', 'list']]
      for (const result of await Promise.all(commands.map((args) => run(args)))) {
        assertRefusal(result, 1, /newer release \(9999-newer\)/)
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
      const { run, database, files } = commandWorld(t)
      const result = await run(args, { input: `${PASSWORD}\n` })
      const expected = `no database at ${database} (data_dir: environment DATA_DIR). Run "platform db migrate"`
      assertRefusal(result, 1, new RegExp(RegExp.escape(expected)))
      assert.deepEqual(files(), [])
    })
  }

  test('the setting is database.url when that is set', async (t) => {
    const { run, dataDir, files } = commandWorld(t)
    writeFileSync(join(dataDir, 'platform.toml'), 'database.url = "shop.db"\n')
    assertRefusal(await run(['user', 'list']), 1, /shop\.db \(database\.url: file platform\.toml:1\)/)
    assert.deepEqual(files(), ['platform.toml'])
  })

  for (const engine of ['sqlite', 'postgres'] as const) {
    test(`an empty database is refused and stays empty: ${engine}`, async (t) => {
      const env: Environment = engine === 'postgres' ? { DATABASE_URL: await postgresUrl(t) } : {}
      const { run, database } = commandWorld(t, env)
      if (engine === 'sqlite') onSqlite(database, 'vacuum')
      assertRefusal(await run(['user', 'list']), 1, /no schema in the database .*Run "platform db migrate"/)
      assert.match(assertSuccess(await run(['db', 'status'])), /0001-foundation +pending/)
    })
  }
})
