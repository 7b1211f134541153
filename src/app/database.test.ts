import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { loadConfig } from '../config/config.ts'
import { silentLogger } from '../kernel/logger.ts'
import { noMetrics } from '../kernel/metrics.ts'
import { openDatabase } from './database.ts'

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
