import { declaredAlarmId } from '../../kernel/alerts.ts'
import { AppError, requireFound, requireMove, requireVersion } from '../../kernel/errors.ts'
import type { Counter } from '../../kernel/metrics.ts'
import type { Page } from '../../kernel/page.ts'
import type { PlatformAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import type { OrderPayments } from '../../ports/payments.ts'
import type { ServiceDeps, Tx } from '../../store/store.ts'
import { archiveOrders, listArchivable } from './archive.ts'
import { listOrders, type OrderFilter, type OrderPageRequest } from './list.ts'
import {
  applyMove,
  differencesOf,
  isDue,
  newOrder,
  ORDER_ALERTS,
  ORDER_EVENTS,
  ORDER_MOVES,
  ORDER_STATUSES,
  type ListedOrder,
  type NewOrder,
  type NextOrderStatus,
  type Order,
  type OrderChange,
  type OrderStatus,
} from './model.ts'
import {
  countByStatus,
  countWithArchive,
  countWithNumbers,
  findOrder,
  insertOrder,
  listChanges,
  listDue,
  lockDue,
  moveOrder,
  type NumberQuery,
} from './store.ts'

/** What the order domain needs of the rest of the platform. */
export interface OrderDeps extends ServiceDeps {
  /** The default time from an order's creation to its expiry, in milliseconds. */
  readonly expiryMs: number
  readonly events: EventSink<Order>
  readonly alerts: PlatformAlerts
  readonly payments: OrderPayments
}

const WORKER = 'worker'

/** The orders of all platforms: their creation, status changes, expiry and history. */
export class Orders {
  readonly #deps: OrderDeps
  readonly #changes: Counter
  readonly #archived: Counter

  constructor(deps: OrderDeps) {
    this.#deps = deps
    this.#changes = deps.metrics.counter({
      name: 'order_changes_total',
      help: 'Orders that entered a status.',
      labels: { status: ORDER_STATUSES },
    })
    this.#archived = deps.metrics.counter({
      name: 'orders_archived_total',
      help: 'Orders that were moved to the archive.',
    })
  }

  /** Creates an order, or returns the existing one if it is the same. Rejects with `order_exists` if it differs. */
  async create(
    tx: Tx,
    wanted: NewOrder,
    actor: string,
  ): Promise<{ order: Order; outcome: 'created' | 'unchanged' }> {
    const { clock, expiryMs, events } = this.#deps
    const order = newOrder(wanted, actor, clock.now(), expiryMs)
    if (!(await insertOrder(tx, order)))
      return { order: await requireSameOrder(tx, wanted), outcome: 'unchanged' }
    await events.append(tx, eventOf(order))
    tx.afterCommit(() => this.#record(order, actor))
    return { order, outcome: 'created' }
  }

  /** Rejects with `order_not_found`. */
  async get(orderId: string): Promise<Order> {
    return requireFound(await findOrder(this.#deps.store.read, orderId), 'order', orderId)
  }

  /** One page of the orders that match the filter; `sortOf` gives the order of the page. */
  list(filter: OrderFilter, page: OrderPageRequest): Promise<Page<ListedOrder>> {
    return listOrders(this.#deps.store.read, filter, page)
  }

  /** Every change of an order, oldest first, starting with the creation. Rejects with `order_not_found`. */
  async history(orderId: string): Promise<OrderChange[]> {
    const { createdAt: at, createdBy: actor } = await this.get(orderId)
    return [{ at, from: null, to: 'pending', actor }, ...(await listChanges(this.#deps.store.read, orderId))]
  }

  /**
   * Moves an order to a status. An order that already has it is returned unchanged, without an event. Rejects with
   * `order_not_found`, with `invalid_transition`, and with `precondition_failed` if the order has none of the
   * `expectedVersions`.
   */
  async move(
    tx: Tx,
    orderId: string,
    to: OrderStatus,
    actor: string,
    expectedVersions?: readonly number[],
  ): Promise<Order> {
    // If another move wins the race, this one is checked again against the new status.
    for (;;) {
      const order = requireFound(await findOrder(tx, orderId), 'order', orderId)
      requireVersion(order.version, expectedVersions, 'order')
      if (order.status === to) return order
      requireMove('An order', ORDER_MOVES, order.status, to)
      const next = await this.#move(tx, order, to, actor, this.#deps.clock.now())
      if (next) return next
    }
  }

  /** Finds an order in a transaction; undefined if there is none. */
  find(tx: Tx, orderId: string): Promise<Order | undefined> {
    return findOrder(tx, orderId)
  }

  /** Moves a pending order to paid; `false` if there is no such order, or it is not pending. */
  async pay(tx: Tx, orderId: string, actor: string): Promise<boolean> {
    const order = await findOrder(tx, orderId)
    if (order?.status !== 'pending') return false
    return (await this.#move(tx, order, 'paid', actor, this.#deps.clock.now())) !== undefined
  }

  /** Expires one batch of overdue pending orders; returns how many it has read and how many it has expired. */
  async expireDue(limit: number): Promise<{ due: number; expired: number }> {
    const { store, clock, payments } = this.#deps
    // The read is outside the write queue: a scan without due orders writes nothing.
    const due = await listDue(store.read, clock.now(), limit)
    if (due.length === 0) return { due: 0, expired: 0 }
    await payments.askBeforeExpiry(due.map(({ orderId }) => orderId))
    return store.write(async (tx) => {
      // The clock may have been set back since the read.
      const now = clock.now()
      let expired = 0
      for (const order of await lockDue(tx, due))
        if (isDue(order, now) && (await this.#move(tx, order, 'expired', WORKER, now))) expired++
      return { due: due.length, expired }
    })
  }

  /** Moves one batch of orders that ended longer than `archiveAfterMs` ago to the archive; returns how many. */
  async archiveEnded(archiveAfterMs: number, limit: number): Promise<number> {
    const { store, clock } = this.#deps
    const ended = await listArchivable(store.read, clock.now() - archiveAfterMs, limit)
    if (ended.length === 0) return 0
    return store.write(async (tx) => {
      const archived = await archiveOrders(tx, ended)
      tx.afterCommit(() => this.#archived.increment({}, archived))
      return archived
    })
  }

  /** How long the longest overdue pending order is overdue, in milliseconds; 0 if none is. */
  async longestOverdueMs(): Promise<number> {
    const { store, clock } = this.#deps
    const now = clock.now()
    const [oldest] = await listDue(store.read, now, 1)
    return oldest ? now - oldest.expiresAt : 0
  }

  /** How many orders of each status there are that are not archived. Takes long where there are many. */
  countByStatus(): Promise<{ status: OrderStatus; orders: number }[]> {
    const { store } = this.#deps
    return store.readAside(countByStatus(store.read))
  }

  /** How many orders of each status there are, archived ones too. Takes long where there are many. */
  async countAll(): Promise<Record<OrderStatus, number>> {
    const { store } = this.#deps
    return sumByStatus(await store.readAside(countWithArchive(store.read)))
  }

  /** Counts as {@link countAll} does, and runs another query in the same snapshot. */
  async countAllWith(
    query: NumberQuery,
  ): Promise<{ counts: Record<OrderStatus, number>; numbers: ReadonlySet<number> }> {
    const { store } = this.#deps
    const rows = await store.readAside(countWithNumbers(store.read, query))
    const numbers = rows.flatMap(({ status, orders: number }) => (status === null ? number : []))
    return { counts: sumByStatus(rows), numbers: new Set(numbers) }
  }

  /** Writes the change, its history and its event. Returns undefined if the order has left its status meanwhile. */
  async #move(
    tx: Tx,
    order: Order,
    to: NextOrderStatus,
    actor: string,
    at: number,
  ): Promise<Order | undefined> {
    const { events, alerts, payments } = this.#deps
    const next = applyMove(order, to, at)
    if (!(await moveOrder(tx, order.status, next, actor))) return undefined
    if (order.status === 'pending') await payments.orderLeftPending(tx, order.orderId)
    await events.append(tx, eventOf(next))
    if (to === 'expired') await alerts.raise(tx, timeoutAlert(next))
    tx.afterCommit(() => this.#record(next, actor))
    return next
  }

  #record(order: Order, actor: string): void {
    this.#changes.increment({ status: order.status })
    this.#deps.logger.debug({ order_id: order.orderId, status: order.status, actor }, 'order changed')
  }
}

function sumByStatus(rows: readonly { readonly status: OrderStatus | null; readonly orders: number }[]) {
  const counts = { pending: 0, paid: 0, shipped: 0, completed: 0, expired: 0 }
  for (const { status, orders } of rows) if (status !== null) counts[status] += orders
  return counts
}

async function requireSameOrder(tx: Tx, wanted: NewOrder): Promise<Order> {
  const order = requireFound(await findOrder(tx, wanted.orderId), 'order', wanted.orderId)
  const differing = differencesOf(order, wanted)
  if (differing.length === 0) return order
  throw new AppError(
    'conflict',
    'order_exists',
    `Another order has the order_id ${JSON.stringify(wanted.orderId)}; it differs in ${differing.join(', ')}.`,
    { values: { differing } },
  )
}

function eventOf(order: Order) {
  return { type: ORDER_EVENTS[order.status], subject: order.orderId, data: order }
}

function timeoutAlert({ orderId, platform, amountCents }: Order) {
  return {
    alarmId: declaredAlarmId(ORDER_ALERTS, 'order.timeout:*', orderId),
    source: 'platform.orders',
    title: `Order ${orderId} was not paid in time`,
    body: `The order of platform ${platform} over ${amountCents} cents expired without a payment.`,
    severity: 'WARNING',
  } as const
}
