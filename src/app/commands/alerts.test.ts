import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { doctorWorld } from '../../../test/support/doctor.ts'
import { loadConfig } from '../../config/config.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { systemClock } from '../../kernel/clock.ts'
import { createServingRecord } from '../../store/work/marks.ts'
import { openDatabase } from '../database.ts'
import { receiverCodes } from '../receivers.ts'
import { createSigningKeys } from '../signing-keys.ts'
import { sendToReceiver, sendToRobot } from './alerts.ts'

const NO_SIGNAL = new AbortController().signal

test('a delivered test is no success while the running platform has another address', async (t) => {
  const { dataDir, migrate, run } = doctorWorld(t)
  await migrate()
  const server = createServer((_, response) => void response.end('ok')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const env = (path: string) => ({
    DATA_DIR: dataDir,
    ALERT_ROBOT_URL: `http://127.0.0.1:${port}/${path}`,
    ALERT_ROBOT_KIND: 'generic',
  })
  const { config } = loadConfig({ env: env('old'), cwd: '/', systemConfigPath: '/nowhere' })
  const store = await openDatabase({ config, logger: silentLogger, metrics: noMetrics })
  t.after(() => store.close())
  const serving = createServingRecord(store, systemClock, {
    host: 'one',
    processId: process.pid,
    version: '2.3.0',
    modules: ['api', 'worker'],
    startedAt: 0,
    dataDir,
    bus: '',
    receivers: receiverCodes(config, createSigningKeys(config)),
  })
  await serving.job.run(NO_SIGNAL)
  const tryIt = (path: string) => run((context) => sendToReceiver(context, 'robot', {}), env(path))
  const same = await tryIt('old')
  assert.deepEqual([same.result, same.output, same.errors], [0, 'delivered: HTTP 200 ok\n', ''])
  const other = await tryIt('new')
  assert.deepEqual([other.result, other.output], [1, 'delivered: HTTP 200 ok\n'])
  assert.match(
    other.errors,
    /^platform: The platform on one \(process \d+, started 1970-.*\) has another address or secret for robot, .*: restart it\.\n$/,
  )
  await assert.rejects(
    run((context) => sendToRobot(context, {}), env('new')),
    { code: 'restart_needed' },
  )
  await serving.remove()
  assert.equal((await tryIt('new')).result, 0)
})
