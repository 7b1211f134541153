import assert from 'node:assert/strict'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { loadConfig } from '../config/config.ts'
import { errorMessage } from '../kernel/errors.ts'
import { silentLogger } from '../kernel/logger.ts'
import { noMetrics } from '../kernel/metrics.ts'
import { temporaryDirectory } from '../../test/support/platform.ts'
import { printBackups } from './commands/data.ts'
import { explainRefusal, openCurrentDatabase, openDatabase } from './database.ts'

test('a database that does not answer is named with the reason', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const env = { DATABASE_URL: `postgres://127.0.0.1:${port}/shop` }
  const { config } = loadConfig({ env, cwd: '/', systemConfigPath: '/nowhere' })
  await assert.rejects(openDatabase({ config, logger: silentLogger, metrics: noMetrics }), {
    code: 'store_unavailable',
    message: `The database postgres://127.0.0.1:${port}/shop cannot be used: The database has not answered within 2000 ms; try again. Start its server; if it runs, look at the name service of this host and at the firewall between them; or correct database.url (DATABASE_URL).`,
  })
})

test('damaged pages that a start or a command meets name the newest backup, which is listed without the database', async (t) => {
  const directory = temporaryDirectory()
  t.after(() => directory[Symbol.dispose]())
  const env = { DATA_DIR: directory.path }
  const { config } = loadConfig({ env, cwd: '/', systemConfigPath: '/nowhere' })
  const open = () => openCurrentDatabase({ config, logger: silentLogger, metrics: noMetrics })
  await (await open()).close()
  const file = openSync(join(directory.path, 'platform.db'), 'r+')
  // After the first page, which has the schema.
  writeSync(file, Buffer.alloc(40_000, 0xa5), 0, 40_000, 4_096)
  closeSync(file)
  const backup = join(directory.path, 'backups', 'one.db')
  mkdirSync(join(directory.path, 'backups'))
  writeFileSync(backup, 'a backup')
  const wayBack = {
    code: 'store_unavailable',
    message: new RegExp(
      `cannot be used: .*malformed\\. Stop the platform, then run: platform data restore ${backup} `,
    ),
  }
  await assert.rejects(open(), wayBack)
  const stdout = new PassThrough()
  const context = { env, cwd: '/', stdin: Readable.from([]), stdout, stderr: new PassThrough() }
  await assert.rejects(printBackups(context, {}), wayBack)
  stdout.end()
  assert.match(await text(stdout), /^MODIFIED +BYTES +FILE\n\S+ +8 +\S+one\.db\n$/)
})

test('a server that refuses the user a table is named with what to do', () => {
  const { config } = loadConfig({
    env: { DATABASE_URL: 'postgres://db.example.com/shop' },
    cwd: '/',
    systemConfigPath: '/nowhere',
  })
  const refusal = Object.assign(new Error('permission denied for table orders'), { code: '42501' })
  const error = explainRefusal(config, refusal)
  assert.match(
    errorMessage(error),
    /cannot be used: permission denied for table orders\. Make the user .* of its tables/,
  )
  // The operating system uses other codes.
  const other = Object.assign(new Error('no such file'), { code: 'ENOENT' })
  assert.equal(explainRefusal(config, other), other)
})

test('a clock before the last migration is an error in the log', async (t) => {
  const directory = temporaryDirectory()
  t.after(() => directory[Symbol.dispose]())
  const { config } = loadConfig({ env: { DATA_DIR: directory.path }, cwd: '/', systemConfigPath: '/nowhere' })
  const errors: string[] = []
  const logger = { ...silentLogger, error: (_: object, message: string) => void errors.push(message) }
  const open = () => openCurrentDatabase({ config, logger, metrics: noMetrics })
  await (await open()).close()
  assert.deepEqual(errors, [])
  const tomorrow = Date.now() + 86_400_000
  using database = new DatabaseSync(join(directory.path, 'platform.db'))
  database.exec(`update schema_migrations set applied_at = ${tomorrow}`)
  await (await open()).close()
  assert.match(
    errors.join('\n'),
    /^the clock is before the last migration: set it, then restart the platform$/,
  )
})
