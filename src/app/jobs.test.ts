import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../test/support/eventually.ts'
import { systemClock } from '../kernel/clock.ts'
import type { Job } from '../kernel/job.ts'
import type { Logger } from '../kernel/logger.ts'
import { silentLogger } from '../kernel/logger.ts'
import type { Gauge, Labels, Metrics } from '../kernel/metrics.ts'
import { noMetrics } from '../kernel/metrics.ts'
import { startJobs } from './jobs.ts'

function surroundings() {
  const warnings: string[] = []
  const recorded: (Labels | undefined)[] = []
  const logger: Logger = { ...silentLogger, warn: (_fields, message) => void warnings.push(message) }
  const metrics: Metrics = {
    ...noMetrics,
    counter: () => ({ increment: (labels) => void recorded.push(labels) }),
    gauge: () => ({ set: (_value, labels) => void recorded.push(labels), clear() {} }),
  }
  return { clock: systemClock, logger, metrics, warnings, recorded }
}

const job = (run: Job['run'], everyMs = 1): Job => ({ name: 'sweep', everyMs, run })

test('a job runs at once and again and again, never overlapping with itself', async () => {
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

test('a job that fails is told of, counted, and run again', async () => {
  const world = surroundings()
  let runs = 0
  const sweep = job(async () => {
    if (++runs === 1) throw new Error('the disk is full')
  })
  const runner = startJobs([sweep], world)
  await eventually('the job has run twice', () => runs >= 2)
  await runner.stop()
  assert.deepEqual(world.warnings, ['a job failed and will be tried again'])
  assert.deepEqual(world.recorded.slice(0, 3), [
    { name: 'sweep', outcome: 'failed' },
    { name: 'sweep', outcome: 'done' },
    { name: 'sweep' },
  ])
})

test('the gauges of a job are cleared when it fails', async () => {
  let runs = 0
  const steps: string[] = []
  const gauge: Gauge = { set: () => void steps.push('set'), clear: () => void steps.push('clear') }
  const count = async () => {
    if (++runs === 2) throw new Error('the database is away')
    gauge.set(1)
  }
  const runner = startJobs([{ ...job(count), gauges: [gauge] }], surroundings())
  await eventually('the job has run three times', () => steps.length >= 3)
  await runner.stop()
  assert.deepEqual(steps.slice(0, 3), ['set', 'clear', 'set'])
})

test('stopping tells the run under way, waits for it, and does not wait for the next one', async () => {
  let told = false
  let left = false
  const sweep = job(async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    told = true
    await new Promise((resolve) => setImmediate(resolve))
    left = true
  }, 3_600_000)
  const runner = startJobs([sweep], surroundings())
  await Promise.all([runner.stop(), runner.stop()])
  assert.deepEqual([told, left], [true, true])
})
