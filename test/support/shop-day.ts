import { join } from 'node:path'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { HOUR, MINUTE } from '../../src/kernel/time.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import type { OrderStatus } from '../../src/domains/orders/index.ts'
import { overviewOn } from './overview.ts'
import { fakeWaitingClock } from './waiting-clock.ts'

const STEP_MS = 10 * MINUTE
// Less than a day, so that the chart of 24 hours has all of it.
const DURATION_MS = 23 * HOUR
const STEPS = DURATION_MS / STEP_MS
const MOST_PER_STEP = 6
const MOST_DUE = 50
const FIRST_ORDER = 4_001

/** What happens to an order after its creation, by the steps until then. */
type Course = readonly (readonly [steps: number, status: OrderStatus])[]

const COURSES: readonly Course[] = [
  [
    [1, 'paid'],
    [6, 'shipped'],
    [20, 'completed'],
  ],
  [
    [1, 'paid'],
    [9, 'shipped'],
  ],
  [
    [1, 'paid'],
    [12, 'completed'],
  ],
]
// One order of so many is never paid, and expires.
const EXPIRES_EVERY = 25

/** Writes the orders of the last 23 hours into a new database, as a platform with that clock would; returns how many. */
export async function writeShopDay(dataDir: string): Promise<number> {
  const clock = fakeWaitingClock(Date.now() - DURATION_MS)
  const database = { kind: 'sqlite', path: join(dataDir, 'platform.db') } as const
  await using stack = new AsyncDisposableStack()
  const opened = await openStore({ database, clock, metrics: noMetrics, logger: silentLogger })
  const store = stack.adopt(opened, (each) => each.close())
  await migrate(store, clock)
  const shop = new Shop(overviewOn(store, clock))
  for (let step = 0; step < STEPS; step++) {
    await shop.work(step)
    clock.advance(STEP_MS)
    await shop.expire()
  }
  return shop.orders
}

interface PlannedMove {
  readonly orderId: string
  readonly status: OrderStatus
}

class Shop {
  readonly #platform: ReturnType<typeof overviewOn>
  readonly #moves = new Map<number, PlannedMove[]>()
  orders = 0

  constructor(platform: ReturnType<typeof overviewOn>) {
    this.#platform = platform
  }

  /** Makes the moves that are planned for this step, and creates its orders. */
  async work(step: number): Promise<void> {
    for (const { orderId, status } of this.#moves.get(step) ?? []) await this.#platform.move(orderId, status)
    for (let missing = ordersOf(step); missing > 0; missing--) await this.#create(step)
  }

  async expire(): Promise<void> {
    await this.#platform.domains.orders.service.expireDue(MOST_DUE)
  }

  async #create(step: number): Promise<void> {
    const orderId = `order-${FIRST_ORDER + this.orders}`
    const course = courseOf(this.orders++)
    await this.#platform.order(orderId)
    for (const [steps, status] of course) this.#plan(step + steps, { orderId, status })
  }

  #plan(step: number, move: PlannedMove): void {
    this.#moves.set(step, [...(this.#moves.get(step) ?? []), move])
  }
}

/** Few orders at the beginning and at the end of the day, most in its middle. */
function ordersOf(step: number): number {
  const share = (1 - Math.cos((2 * Math.PI * step) / STEPS)) / 2
  return 1 + Math.round(share * MOST_PER_STEP)
}

function courseOf(order: number): Course {
  return order % EXPIRES_EVERY === 0 ? [] : (COURSES[order % COURSES.length] ?? [])
}
