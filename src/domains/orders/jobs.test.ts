import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordedGauges } from '../../../test/support/gauges.ts'
import { orderCountJob } from './jobs.ts'
import type { Orders } from './service.ts'

function ordersWith(state: { overdueMs: number; fails: boolean }): Orders {
  return {
    longestOverdueMs: async () => state.overdueMs,
    countByStatus: async () => {
      if (state.fails) throw new Error('the database is away')
      return [{ status: 'pending', orders: 2 }]
    },
  } as Pick<Orders, 'longestOverdueMs' | 'countByStatus'> as Orders
}

test('the gauges of orders show every status and the longest overdue order', async () => {
  const { values, metrics } = recordedGauges()
  const job = orderCountJob(ordersWith({ overdueMs: 61_500, fails: false }), metrics)
  assert.equal(values.size, 0)
  await job.run(new AbortController().signal)
  assert.deepEqual(Object.fromEntries(values), {
    orders_overdue_seconds: 61.5,
    'orders pending': 2,
    'orders paid': 0,
    'orders shipped': 0,
    'orders completed': 0,
    'orders expired': 0,
  })
})

test('the job names every gauge that it sets: its runner clears them when a count fails', async () => {
  const { values, metrics } = recordedGauges()
  const state = { overdueMs: 0, fails: false }
  const job = orderCountJob(ordersWith(state), metrics)
  const { signal } = new AbortController()
  await job.run(signal)
  state.fails = true
  await assert.rejects(job.run(signal), /the database is away/)
  for (const gauge of job.gauges ?? []) gauge.clear()
  assert.deepEqual([...values.keys()], [])
})
