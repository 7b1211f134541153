import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgedSessions } from '../../../test/support/tunnels-graph.ts'
import {
  gatewayItem,
  sessionItem,
  timeBefore,
  type SessionItem,
} from '../../../test/support/tunnels-sample.ts'
import { countByHealth, medianRtt, typicalHealth, worstHealth } from './health.ts'

const CASES: readonly {
  readonly what: string
  readonly fields: Partial<SessionItem>
  readonly health: string
}[] = [
  { what: 'a round trip of 79 ms', fields: { rtt_ms: 79 }, health: 'fast' },
  { what: 'a round trip of 80 ms', fields: { rtt_ms: 80 }, health: 'fair' },
  { what: 'a round trip of 250 ms', fields: { rtt_ms: 250 }, health: 'slow' },
  { what: 'no answered heartbeat yet', fields: { rtt_ms: null }, health: 'measuring' },
  { what: 'a missed heartbeat', fields: { rtt_ms: 5, last_seen_at: timeBefore(50_001) }, health: 'silent' },
  { what: 'a late answer', fields: { rtt_ms: 5, last_seen_at: timeBefore(49_999) }, health: 'fast' },
  {
    what: 'a missed heartbeat at a gateway of shorter intervals',
    fields: { rtt_ms: 5, gateway: 'quick', last_seen_at: timeBefore(8_400) },
    health: 'silent',
  },
  {
    what: 'a late answer at a gateway of longer intervals',
    fields: { rtt_ms: 5, gateway: 'calm', last_seen_at: timeBefore(99_000) },
    health: 'fast',
  },
  { what: 'a gateway that is away', fields: { rtt_ms: 5, gateway: 'standby' }, health: 'silent' },
]

const GATEWAYS = [
  gatewayItem('primary', ''),
  gatewayItem('standby', '', { alive: false }),
  gatewayItem('quick', '', { heartbeat_seconds: 5 }),
  gatewayItem('calm', '', { heartbeat_seconds: 60 }),
]

for (const { what, fields, health } of CASES) {
  test(`a session with ${what} is ${health}`, () => {
    const [session] = judgedSessions([sessionItem({ virtual_ip: '100.64.0.2', ...fields })], {
      gateways: GATEWAYS,
    })
    assert.equal(session?.health, health)
  })
}

const withTimes = (...times: (number | null)[]) =>
  judgedSessions(times.map((rtt_ms, index) => sessionItem({ virtual_ip: `100.64.0.${index + 2}`, rtt_ms })))

test('the worst is what needs a look first, the typical what most are', () => {
  const sessions = withTimes(10, 20, 30, 300, null)
  assert.equal(worstHealth(sessions), 'measuring')
  assert.equal(typicalHealth(sessions), 'fast')
  assert.deepEqual(countByHealth(sessions), { fast: 3, fair: 0, slow: 1, measuring: 1, silent: 0 })
})

test('of two that are equally many the worse one is typical', () => {
  assert.equal(typicalHealth(withTimes(10, 300)), 'slow')
})

test('without sessions the health is fast and there is no median', () => {
  assert.equal(worstHealth([]), 'fast')
  assert.equal(typicalHealth([]), 'fast')
  assert.equal(medianRtt([]), null)
})

test('the median counts the times that are known', () => {
  assert.equal(medianRtt(withTimes(900, null, 10, 20)), 20)
  assert.equal(medianRtt(withTimes(40, 10)), 10)
  assert.equal(medianRtt(withTimes(null)), null)
})
