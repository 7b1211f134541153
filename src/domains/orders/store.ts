import { sql, type Selectable } from 'kysely'
import { pageOf, type Page, type PageRequest } from '../../kernel/page.ts'
import { statement } from '../../store/statement.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import type { Order, OrderChange, OrderStatus } from './model.ts'
import type { OrdersTable } from './tables.ts'

type Row = Selectable<OrdersTable>

const insert = statement<Omit<Row, 'seq'>>((db, value) =>
  db
    .insertInto('orders')
    .values({
      order_id: value('order_id'),
      platform: value('platform'),
      amount_cents: value('amount_cents'),
      status: value('status'),
      expires_at: value('expires_at'),
      created_at: value('created_at'),
      created_by: value('created_by'),
      updated_at: value('updated_at'),
      paid_at: value('paid_at'),
      shipped_at: value('shipped_at'),
      completed_at: value('completed_at'),
      expired_at: value('expired_at'),
      version: value('version'),
    })
    .onConflict((conflict) => conflict.column('order_id').doNothing()),
)

const find = statement<{ order_id: string }, Row>((db, value) =>
  db.selectFrom('orders').selectAll().where('order_id', '=', value('order_id')),
)

const move = statement<Omit<Row, 'seq'> & { from: OrderStatus }>((db, value) =>
  db
    .updateTable('orders')
    .set({
      status: value('status'),
      updated_at: value('updated_at'),
      paid_at: value('paid_at'),
      shipped_at: value('shipped_at'),
      completed_at: value('completed_at'),
      expired_at: value('expired_at'),
      version: value('version'),
    })
    .where('order_id', '=', value('order_id'))
    .where('status', '=', value('from')),
)

const insertChange = statement<{
  order_id: string
  version: number
  at: number
  from: OrderStatus
  to: OrderStatus
  actor: string
}>((db, value) =>
  db.insertInto('order_history').values({
    order_id: value('order_id'),
    version: value('version'),
    at: value('at'),
    from_status: value('from'),
    to_status: value('to'),
    actor: value('actor'),
  }),
)

// The status is written out: the index on due orders covers only queries that repeat its condition.
const due = statement<{ now: number; limit: number }, Row>((db, value) =>
  db
    .selectFrom('orders')
    .selectAll()
    .where('status', '=', sql.lit('pending'))
    .where('expires_at', '<=', value('now'))
    .orderBy('expires_at')
    .limit(value('limit')),
)

/** Answers `false` when an order of that id is there already. */
export async function insertOrder(tx: Tx, order: Order): Promise<boolean> {
  return (await tx.change(insert, toRow(order))) === 1
}

export async function findOrder(queries: Queries, orderId: string): Promise<Order | undefined> {
  const row = await first(queries, find, { order_id: orderId })
  return row && fromRow(row)
}

/** Compare-and-set: answers `false`, and changes nothing, when the order is not in `from` any more. */
export async function moveOrder(tx: Tx, from: OrderStatus, order: Order, actor: string): Promise<boolean> {
  if ((await tx.change(move, { ...toRow(order), from })) === 0) return false
  const { orderId: order_id, version, updatedAt: at, status: to } = order
  await tx.change(insertChange, { order_id, version, at, from, to, actor })
  return true
}

export interface OrderFilter {
  readonly status?: OrderStatus
  readonly platform?: string
}

/** An order's place in the lists, and which version of it stands there. */
export interface Mark {
  readonly seq: number
  readonly version: number
}

const marks = (has: Readonly<Record<keyof OrderFilter, boolean>>) =>
  statement<Required<OrderFilter> & { before: number; limit: number }, Mark>((db, value) =>
    db
      .selectFrom('orders')
      .select(['seq', 'version'])
      .$if(has.status, (query) => query.where('status', '=', value('status')))
      .$if(has.platform, (query) => query.where('platform', '=', value('platform')))
      .where('seq', '<', value('before'))
      .orderBy('seq', 'desc')
      .limit(value('limit')),
  )

const MARKS = {
  all: marks({ status: false, platform: false }),
  status: marks({ status: true, platform: false }),
  platform: marks({ status: false, platform: true }),
  both: marks({ status: true, platform: true }),
}

/** Newest first. */
export async function listMarks(
  queries: Queries,
  { status, platform }: OrderFilter,
  { before, limit }: PageRequest,
): Promise<Page<Mark>> {
  const chosen = status ? (platform ? MARKS.both : MARKS.status) : platform ? MARKS.platform : MARKS.all
  const rows = await queries.run(chosen, {
    status: status ?? 'pending',
    platform: platform ?? '',
    before,
    limit: limit + 1,
  })
  return pageOf(rows, limit, (mark) => mark)
}

/** In any order. */
export async function findOrders(
  { db }: Queries,
  seqs: readonly number[],
): Promise<{ seq: number; order: Order }[]> {
  const rows = await db.selectFrom('orders').selectAll().where('seq', 'in', seqs).execute()
  return rows.map((row) => ({ seq: row.seq, order: fromRow(row) }))
}

/** Newest first. */
export async function listOrders(
  { db }: Queries,
  filter: OrderFilter,
  page: PageRequest,
): Promise<Page<Order>> {
  const { status, platform } = filter
  const rows = await db
    .selectFrom('orders')
    .selectAll()
    .$if(status !== undefined, (query) => query.where('status', '=', status as OrderStatus))
    .$if(platform !== undefined, (query) => query.where('platform', '=', platform as string))
    .where('seq', '<', page.before)
    .orderBy('seq', 'desc')
    .limit(page.limit + 1)
    .execute()
  return pageOf(rows, page.limit, fromRow)
}

/** Pending orders whose time is over, the longest overdue first. */
export async function listDue(queries: Queries, now: number, limit: number): Promise<Order[]> {
  return (await queries.run(due, { now, limit })).map(fromRow)
}

/**
 * Which of these orders this transaction may expire, in their order: those that are still pending, and that no other
 * transaction holds. Whoever holds one will have decided on it by the next scan.
 */
export async function lockDue({ db, capabilities }: Tx, orders: readonly Order[]): Promise<readonly Order[]> {
  if (!capabilities.concurrentWriters) return orders
  const ids = orders.map(({ orderId }) => orderId)
  const rows = await db
    .selectFrom('orders')
    .select('order_id')
    .where('order_id', 'in', ids)
    .where('status', '=', sql.lit('pending'))
    .orderBy('order_id')
    .forUpdate()
    .skipLocked()
    .execute()
  const locked = new Set(rows.map(({ order_id }) => order_id))
  return orders.filter(({ orderId }) => locked.has(orderId))
}

/** The changes after the creation, oldest first. */
export async function listChanges({ db }: Queries, orderId: string): Promise<OrderChange[]> {
  const rows = await db
    .selectFrom('order_history')
    .select(['at', 'from_status', 'to_status', 'actor'])
    .where('order_id', '=', orderId)
    .orderBy('version')
    .execute()
  return rows.map(({ at, from_status, to_status, actor }) => ({
    at,
    from: from_status,
    to: to_status,
    actor,
  }))
}

/** A query that counts the orders of each status; it reads a whole index, so it runs aside. */
export function countByStatus({ db }: Queries) {
  return db
    .selectFrom('orders')
    .select(['status', (each) => each.fn.countAll<number>().as('orders')])
    .groupBy('status')
}

function toRow(order: Order): Omit<Row, 'seq'> {
  return {
    order_id: order.orderId,
    platform: order.platform,
    amount_cents: order.amountCents,
    status: order.status,
    expires_at: order.expiresAt,
    created_at: order.createdAt,
    created_by: order.createdBy,
    updated_at: order.updatedAt,
    paid_at: order.paidAt,
    shipped_at: order.shippedAt,
    completed_at: order.completedAt,
    expired_at: order.expiredAt,
    version: order.version,
  }
}

function fromRow(row: Row): Order {
  return {
    orderId: row.order_id,
    platform: row.platform,
    amountCents: row.amount_cents,
    status: row.status,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    createdBy: row.created_by,
    updatedAt: row.updated_at,
    paidAt: row.paid_at,
    shippedAt: row.shipped_at,
    completedAt: row.completed_at,
    expiredAt: row.expired_at,
    version: row.version,
  }
}
