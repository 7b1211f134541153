import assert from 'node:assert/strict'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { createJumpingClock, missingFaketime } from '../support/jumping-clock.ts'
import { startNats } from '../support/nats.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import type { Chance } from '../support/random.ts'
import { openEngine, type Engine } from './support/engine.ts'
import { requireOrders } from './support/order-invariants.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

const SECOND_MS = 1_000
const DAY_MS = 86_400_000
const PATIENCE = { timeoutMs: 60_000 }

/** The jumps of the clock; `now` is the time before the jump. */
const JUMPS: readonly (readonly [name: string, target: (now: number, chance: Chance) => number])[] = [
  ['two hours forward', (now) => now + 7_200_000],
  ['a day back', (now) => now - DAY_MS],
  ['before the overflow of 32-bit seconds', () => Date.UTC(2038, 0, 19, 3, 14, 5)],
  ['before a leap second', () => Date.UTC(2016, 11, 31, 23, 59, 58)],
  ['before the end of daylight saving time', () => Date.UTC(2026, 9, 25, 0, 59, 58)],
  ['before the start of daylight saving time', () => Date.UTC(2026, 2, 29, 0, 59, 58)],
  ['to a random time', (now, chance) => now + chance.between(-30, 30) * DAY_MS + chance.between(0, DAY_MS)],
]

/** The times of expiry, relative to the clock. */
const LIFETIMES_MS = [-SECOND_MS, 1_500, 10 * 60_000, 60 * 60_000, DAY_MS]

export const clockJumps: Scenario = {
  name: 'clock-jumps',
  row: 'R-8',
  promise: 'when the clock jumps, no order expires early, each expires once, and delivery continues',
  unit: 'jumps',
  rounds: { short: 6, full: 60 },
  parts: [{ title: 'one process with all modules', run: jump }],
  unsupported: missingFaketime,
}

interface PlacedOrder {
  readonly id: string
  readonly expiresAt: number
}

async function jump(trial: Trial): Promise<Figures> {
  const { rounds, chance, signal, show } = trial
  const { clock, platform, engine } = await openWorld(trial)
  const placed: PlacedOrder[] = []
  // For each order the latest time that the clock has shown: an order that is due later must be pending.
  const latest = new Map<string, number>()
  for (let round = 1; round <= rounds; round++) {
    signal.throwIfAborted()
    const [name, target] = JUMPS[(round - 1) % JUMPS.length] as (typeof JUMPS)[number]
    show(`jump ${round} of ${rounds}: ${name}`)
    placed.push(...(await placeOrders(platform, clock.now(), `r${round}`)))
    recordTime(placed, latest, clock.now())
    clock.set(target(clock.now(), chance))
    await requireExpired(engine, placed, clock.now())
    recordTime(placed, latest, clock.now())
    await eventually('everything to be delivered', () => isDelivered(engine), PATIENCE)
  }
  assert.equal(await platform.stop(), 0)
  const early = await expiredEarly(engine, placed, latest)
  assert.deepEqual(early, [], 'expired before its time')
  await requireOrders(engine, new Map(placed.map(({ id }) => [id, 'pending'])))
  const expired = await engine.count(`select count(*) from orders where status = 'expired'`)
  return { jumps: rounds, orders: placed.length, expired, 'expired early': 0, 'expired twice': 0 }
}

function recordTime(placed: readonly PlacedOrder[], latest: Map<string, number>, now: number): void {
  for (const { id } of placed) latest.set(id, Math.max(latest.get(id) ?? 0, now))
}

async function openWorld({ scope }: Trial) {
  const dataDir = scope.use(temporaryDirectory()).path
  const nats = await startNats({ jetstream: true })
  scope.defer(() => nats.stop())
  const clock = createJumpingClock(join(dataDir, 'clock'))
  const env = { ...clock.env, BUS_SERVER: nats.url, WORKER_ORDER_SCAN: '100ms', TZ: 'Europe/Berlin' }
  const platform = scope.use(await servePlatform({ dataDir, env }))
  return { clock, platform, engine: await openEngine('sqlite', dataDir, scope) }
}

async function placeOrders(platform: ServedPlatform, now: number, prefix: string): Promise<PlacedOrder[]> {
  const orders = LIFETIMES_MS.map((lifetime, index) => ({
    id: `${prefix}-${index}`,
    expiresAt: now + lifetime,
  }))
  for (const { id, expiresAt } of orders) {
    const expires_at = new Date(expiresAt).toISOString()
    const body = { order_id: id, platform: 'clock', amount_cents: 1, expires_at }
    const answer = await platform.call('POST', '/orders', { body })
    assert.equal(answer.status, 201, await answer.text())
  }
  return orders
}

/** Waits until every order that is due has expired. */
async function requireExpired(engine: Engine, placed: readonly PlacedOrder[], now: number): Promise<void> {
  const due = placed.filter(({ expiresAt }) => expiresAt <= now).map(({ id }) => id)
  await eventually(
    'the due orders to expire',
    async () => {
      const rows = await engine.rows(`select order_id from orders where status = 'expired'`)
      const expired = new Set(rows.map(({ order_id }) => String(order_id)))
      return due.every((id) => expired.has(id))
    },
    PATIENCE,
  )
}

async function expiredEarly(
  engine: Engine,
  placed: readonly PlacedOrder[],
  latest: ReadonlyMap<string, number>,
): Promise<unknown[]> {
  const dueAt = new Map(placed.map(({ id, expiresAt }) => [id, expiresAt]))
  const expired = await engine.rows(
    `select order_id, expires_at, expired_at from orders where status = 'expired'`,
  )
  // The clock advanced during the round.
  const tolerance = 2 * PATIENCE.timeoutMs
  return expired.filter(({ order_id, expires_at, expired_at }) => {
    const id = String(order_id)
    const neverDue = (dueAt.get(id) ?? 0) > (latest.get(id) ?? 0) + tolerance
    return neverDue || Number(expired_at) < Number(expires_at)
  })
}

async function isDelivered({ count }: Engine): Promise<boolean> {
  return (await count(`select count(*) from messages where status = 'pending'`)) === 0
}
