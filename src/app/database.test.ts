import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { loadConfig } from '../config/config.ts'
import { silentLogger } from '../kernel/logger.ts'
import { noMetrics } from '../kernel/metrics.ts'
import { temporaryDirectory } from '../../test/support/platform.ts'
import { openCurrentDatabase, openDatabase } from './database.ts'

test('a database that does not answer is named with the reason', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const env = { DATABASE_URL: `postgres://127.0.0.1:${port}/shop` }
  const { config } = loadConfig({ env, cwd: '/', systemConfigPath: '/nowhere' })
  await assert.rejects(openDatabase({ config, logger: silentLogger, metrics: noMetrics }), {
    code: 'store_unavailable',
    message: `The database postgres://127.0.0.1:${port}/shop cannot be used: The database has not answered within 2000 ms; try again. Start its server, or correct database.url (DATABASE_URL).`,
  })
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
