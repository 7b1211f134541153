import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../test/support/eventually.ts'
import { systemClock } from '../kernel/clock.ts'
import type { Job } from '../kernel/job.ts'
import type { Logger } from '../kernel/logger.ts'
import { silentLogger } from '../kernel/logger.ts'
import { noMetrics, type CounterOptions, type Labels, type Metrics } from '../kernel/metrics.ts'
import { DAY, HOUR, SECOND } from '../kernel/time.ts'
import { storeUnavailable } from '../store/unavailable.ts'
import { pauseMs, startJobs } from './jobs.ts'

function surroundings() {
  const warnings: string[] = []
  const recorded: (Labels | undefined)[] = []
  /** The labels of the counters with their values. */
  const series: CounterOptions['labels'][] = []
  const logger: Logger = { ...silentLogger, warn: (_fields, message) => void warnings.push(message) }
  const metrics: Metrics = {
    ...noMetrics,
    counter({ labels: values }) {
      series.push(values)
      return { increment: (labels) => void recorded.push(labels) }
    },
    gauge: () => ({ set: (_value, labels) => void recorded.push(labels), clear() {} }),
  }
  return { clock: systemClock, logger, metrics, isDatabaseOut: () => false, warnings, recorded, series }
}

const job = (run: Job['run'], everyMs = 1): Job => ({ name: 'sweep', everyMs, run })

test('a job runs at once and then repeatedly, and its runs never overlap', async () => {
  let running = 0
  let overlapped = false
  let runs = 0
  const sweep = job(async () => {
    overlapped ||= running++ > 0
    await new Promise((resolve) => setImmediate(resolve))
    running--
    runs++
  })
  const runner = startJobs([sweep], surroundings())
  await eventually('the job has run five times', () => runs >= 5)
  await runner.stop()
  assert.equal(overlapped, false)
})

test('both outcomes of each job are counted from 0', async () => {
  const world = surroundings()
  const runner = startJobs([job(async () => {})], world)
  await runner.stop()
  assert.deepEqual(world.series, [{ name: ['sweep'], outcome: ['done', 'failed'] }])
})

test('a job that fails is logged, counted, and run again', async () => {
  const world = surroundings()
  let runs = 0
  const sweep = job(async () => {
    if (++runs === 1) throw new Error('the disk is full')
  })
  const runner = startJobs([sweep], world)
  await eventually('the job has run twice', () => runs >= 2)
  await runner.stop()
  assert.deepEqual(world.warnings, ['job failed; it will run again'])
  assert.deepEqual(world.recorded.slice(0, 3), [
    { name: 'sweep', outcome: 'failed' },
    { name: 'sweep', outcome: 'done' },
    { name: 'sweep' },
  ])
})

test('a job does not repeat what the log says of an unavailable database, and says everything else', async () => {
  const world = { ...surroundings(), isDatabaseOut: () => true }
  const errors = [storeUnavailable(undefined), storeUnavailable(undefined), new Error('the disk is full')]
  const sweep = job(async () => {
    const error = errors.shift()
    if (error) throw error
  })
  const runner = startJobs([sweep], world)
  await eventually('the job has succeeded', () =>
    world.recorded.some((labels) => labels?.['outcome'] === 'done'),
  )
  await runner.stop()
  assert.deepEqual(world.warnings, ['job failed; it will run again'])
})

test('a failed run is repeated after growing pauses, none longer than the period', () => {
  const pauses = (everyMs: number) =>
    [0, 1, 2, 3, 20].map((failures) => pauseMs({ everyMs }, failures, () => 1))
  assert.deepEqual(pauses(HOUR), [1.1 * HOUR, 10 * SECOND, 20 * SECOND, 40 * SECOND, HOUR])
  assert.deepEqual(pauses(SECOND), [1_100, 1_100, 1_100, 1_100, 1_100])
})

test('the pause after a run with the longest period is one that a timer can have', () => {
  assert.equal(
    pauseMs({ everyMs: 24 * DAY }, 0, () => 1),
    2 ** 31 - 1,
  )
})

test('stopping aborts the running job, waits for it, and does not wait for the next run', async () => {
  let aborted = false
  let left = false
  const sweep = job(async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    aborted = true
    await new Promise((resolve) => setImmediate(resolve))
    left = true
  }, 3_600_000)
  const runner = startJobs([sweep], surroundings())
  await Promise.all([runner.stop(), runner.stop()])
  assert.deepEqual([aborted, left], [true, true])
})
