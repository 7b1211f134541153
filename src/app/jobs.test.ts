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

function recordingDeps() {
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

test('a job runs immediately and then periodically, and never overlaps with itself', async () => {
  let running = 0
  let overlapped = false
  let runs = 0
  const sweep = job(async () => {
    overlapped ||= running++ > 0
    await new Promise((resolve) => setImmediate(resolve))
    running--
    runs++
  })
  const runner = startJobs([sweep], recordingDeps())
  await eventually('the job has run five times', () => runs >= 5)
  await runner.stop()
  assert.equal(overlapped, false)
})

test('a failed job is logged, counted, and run again', async () => {
  const deps = recordingDeps()
  let runs = 0
  const sweep = job(async () => {
    if (++runs === 1) throw new Error('the disk is full')
  })
  const runner = startJobs([sweep], deps)
  await eventually('the job has run twice', () => runs >= 2)
  await runner.stop()
  assert.deepEqual(deps.warnings, ['job failed; it will run again'])
  assert.deepEqual(deps.recorded.slice(0, 3), [
    { name: 'sweep', outcome: 'failed' },
    { name: 'sweep', outcome: 'done' },
    { name: 'sweep' },
  ])
})

test('stop aborts the current run, waits for it, and does not wait for the next one', async () => {
  let aborted = false
  let finished = false
  const sweep = job(async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    aborted = true
    await new Promise((resolve) => setImmediate(resolve))
    finished = true
  }, 3_600_000)
  const runner = startJobs([sweep], recordingDeps())
  await Promise.all([runner.stop(), runner.stop()])
  assert.deepEqual([aborted, finished], [true, true])
})
