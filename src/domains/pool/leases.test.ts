import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../kernel/clock.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { closeLost, vpnStoreWorld } from '../../../test/support/vpn-store.ts'
import { parseRange } from './addresses.ts'
import { leaseAddress } from './leases.ts'

const ONE_ADDRESS = '100.64.0.0/30'
const COOL_DOWN_MS = 400
const HOLDER = { sessionId: 's2', userId: 'ada', device: null }

/** The process stops for that time after it has read the clock once, and again before each later reading. */
function stallingClock(clock: Clock, pauses: readonly number[]): Clock {
  let readings = 0
  let passed = 0
  const now = () => clock.now() + (passed += pauses[readings++] ?? 0)
  return { ...clock, now }
}

onEveryDialect('leases', (dialect) => {
  const leaseBehind = async (pauses: readonly number[]) => {
    await using w = await vpnStoreWorld(dialect, { pool: ONE_ADDRESS })
    const registry = await w.joined('primary')
    const session = await registry.register(w.request('ada'))
    await closeLost(registry, session)
    w.clock.jump(-2 * COOL_DOWN_MS)
    const coolDown = { clock: stallingClock(w.clock, pauses), ms: COOL_DOWN_MS }
    return await w.store.write((tx) => leaseAddress(tx, parseRange(ONE_ADDRESS), HOLDER, coolDown))
  }

  test('an address is free at once when its release lies beyond the cool-down: the clock was set back', async () => {
    assert.equal(await leaseBehind([]), parseRange(ONE_ADDRESS).first)
  })

  test('an address that was released while the process stood still keeps its cool-down', async () => {
    assert.equal(await leaseBehind([0, 2 * COOL_DOWN_MS]), undefined, 'before the search')
    assert.equal(await leaseBehind([0, 0, 2 * COOL_DOWN_MS]), undefined, 'during the search')
  })
})
