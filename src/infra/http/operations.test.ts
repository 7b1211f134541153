import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../kernel/clock.ts'
import { operationsRoutes, type OperationsOptions } from './operations.ts'

async function healthWith(
  bus: OperationsOptions['bus'],
  readOnly = false,
  mirror?: OperationsOptions['mirror'],
) {
  const [health] = operationsRoutes({
    version: '0.0.0',
    modules: ['api'],
    readOnly,
    clock: systemClock,
    checkStore: async () => undefined,
    bus,
    mirror,
    exposeMetrics: async () => ({ contentType: 'text/plain', body: '' }),
  })
  assert.ok(health && 'read' in health)
  const answer = await health.read({} as never)
  return answer.body as {
    status: string
    read_only: boolean
    checks: { bus: string; mirror?: string }
    mirror?: unknown
  }
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

test('health of a standby is degraded while it goes by its copy of the users, with the reason', async () => {
  const { bus } = CASES[0]
  const reason = 'the primary does not answer'
  for (const status of ['degraded', 'expired'] as const) {
    const body = await healthWith(bus, false, { health: () => ({ status, ageSeconds: 12.5, reason }) })
    assert.deepEqual([body.status, body.checks.mirror], ['degraded', status])
    assert.deepEqual(body.mirror, { age_seconds: 12.5, reason })
  }
  const { status, checks, mirror } = await healthWith(bus)
  assert.deepEqual([status, checks, mirror], ['ok', { store: 'ok', bus: 'ok' }, undefined])
})
