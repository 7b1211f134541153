import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordedGauges } from '../../../test/support/gauges.ts'
import { poolUsageJob } from './jobs.ts'
import type { AddressPool } from './service.ts'

function poolWith(state: { fails: boolean }): AddressPool {
  return {
    usage: async () => {
      if (state.fails) throw new Error('the database is away')
      return { cidr: '10.0.0.0/28', size: 10, used: 6, cooling: 0, free: 4 }
    },
    updateAlert: async () => undefined,
    updateOtherAlerts: async () => undefined,
  } as Pick<AddressPool, 'usage' | 'updateAlert' | 'updateOtherAlerts'> as AddressPool
}

test('the job names every gauge that it sets: its runner clears them when a count fails', async () => {
  const { values, metrics } = recordedGauges()
  const state = { fails: false }
  const job = poolUsageJob(poolWith(state), metrics)
  const { signal } = new AbortController()
  await job.run(signal)
  assert.deepEqual(Object.fromEntries(values), { vpn_pool_size: 10, vpn_pool_free: 4 })
  state.fails = true
  await assert.rejects(job.run(signal), /the database is away/)
  for (const gauge of job.gauges ?? []) gauge.clear()
  assert.deepEqual([...values.keys()], [])
})
