import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../kernel/clock.ts'
import { operationsRoutes, type OperationsOptions } from './operations.ts'

async function healthWith(bus: OperationsOptions['bus'], readOnly = false) {
  const [health] = operationsRoutes({
    version: '0.0.0',
    modules: ['api'],
    readOnly,
    clock: systemClock,
    checkStore: async () => undefined,
    bus,
    exposeMetrics: async () => ({ contentType: 'text/plain', body: '' }),
  })
  assert.ok(health && 'read' in health)
  const answer = await health.read({} as never)
  return answer.body as { status: string; read_only: boolean; checks: { bus: string } }
}

const CASES = [
  { bus: { state: 'connected', problem: undefined }, check: 'ok', status: 'ok' },
  { bus: { state: 'connected', problem: 'no stream' }, check: 'degraded', status: 'degraded' },
  { bus: { state: 'disconnected', problem: undefined }, check: 'offline', status: 'degraded' },
] as const

for (const { bus, check, status } of CASES) {
  test(`health is ${status} and its bus ${check} if the bus is ${bus.state}, problem: ${bus.problem}`, async () => {
    const health = await healthWith(bus)
    assert.equal(health.checks.bus, check)
    assert.equal(health.status, status)
  })
}

test('health shows whether the process is read-only', async () => {
  const { bus } = CASES[0]
  assert.equal((await healthWith(bus)).read_only, false)
  assert.equal((await healthWith(bus, true)).read_only, true)
})
