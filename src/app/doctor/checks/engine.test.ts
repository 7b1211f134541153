import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from '../../../infra/metrics/metrics.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { engineFinding, parseLoad, type EngineLoad } from './engine.ts'

const CALM: EngineLoad = { waitingWrites: 3, commitSeconds: 0.01, processors: 0.2 }

test('a database that is large, waits, commits slowly or keeps its processor busy is to be moved', () => {
  const resultOf = (bytes: number, load?: EngineLoad) => engineFinding('platform.db', bytes, load).result
  assert.equal(resultOf(1e9, CALM), 'ok')
  assert.equal(resultOf(1e9), 'ok')
  assert.equal(resultOf(60e9), 'warning')
  for (const busy of [{ waitingWrites: 2_000 }, { commitSeconds: 1 }, { processors: 0.95 }])
    assert.equal(resultOf(1e9, { ...CALM, ...busy }), 'warning', JSON.stringify(busy))
  const { detail, remedy } = engineFinding('platform.db', 2e9, { ...CALM, processors: 0.95 })
  assert.equal(
    detail,
    '2.0 GB, 99 % of commits within 10 ms, 3 writes wait, 0.95 processors busy: SQLite is near its limit on this server',
  )
  assert.match(String(remedy), /operating\.md; platform db copy /)
})

test('the load is read from the metrics of a platform', async () => {
  const { metrics, expose, close } = createMetrics({ logger: silentLogger })
  const commits = metrics.histogram({ name: 'store_commit_seconds', help: 'Time.', buckets: [0.01, 0.1, 1] })
  for (let commit = 0; commit < 9_800; commit++) commits.observe(0.005)
  for (let commit = 0; commit < 200; commit++) commits.observe(0.5)
  metrics.gauge({ name: 'store_write_queue_length', help: 'Waiting.' }).set(7)
  const { body } = await expose()
  close()
  const startedAt = Number(/^platform_process_start_time_seconds (\S+)$/m.exec(body)?.[1])
  const load = parseLoad(body, (startedAt + 10_000) * 1_000)
  assert.deepEqual([load?.commitSeconds, load?.waitingWrites], [1, 7])
  assert.ok(load?.processors !== undefined && load.processors > 0 && load.processors < 1)
  assert.equal(parseLoad(body, (startedAt + 10) * 1_000)?.processors, undefined, 'its start is not its work')
  assert.equal(parseLoad('{"code":"forbidden"}', 0), undefined)
})
