import assert from 'node:assert/strict'
import type { QueryResultRow } from 'pg'
import { eventually } from '../../support/eventually.ts'
import type { Cluster } from '../../support/hosts/cluster.ts'
import { canHaveBecome, type OrderStep } from '../../support/order-clients.ts'
import { NUMBERED_SUBJECT, numbersOfLane } from '../../support/numbered-tickets.ts'
import { readReplicas, type Replica } from '../../support/bus-reader.ts'
import type { Load } from './load.ts'
import type { Replay } from './replay.ts'

const ORDERS = 'select order_id, status from orders'

// One statement, so that all of it is of one moment.
const ORDERS_WITHOUT_THEIR_EVENTS = `
with events_of (status, subject) as (
  values ('pending', 'order.created'), ('paid', 'order.paid'), ('shipped', 'order.shipped'),
    ('completed', 'order.completed'), ('expired', 'order.timeout')
), changes as (
  select order_id, 'pending' as status from orders union all select order_id, to_status from order_history
)
select order_id, subject, sum(count) as surplus from (
  select order_id, subject, -1 as count from changes join events_of using (status)
  union all
  select payload::jsonb ->> 'subject', subject, 1 from messages where subject in (select subject from events_of)
) as counted group by order_id, subject having sum(count) <> 0`

/** What must hold at every moment. */
export async function requireInvariants({ postgres }: Cluster, load: Load): Promise<void> {
  const acknowledged = new Map(load.orders)
  assert.deepEqual(lostOf(acknowledged, await postgres.rows(ORDERS)), [], 'acknowledged orders that are lost')
  // What a former primary has taken and no other server had, it gives up when it follows the new one.
  const haveAll = async () =>
    (await postgres.rowsOfEach(ORDERS)).every((rows) => lostOf(acknowledged, rows).length === 0)
  await eventually('every server of PostgreSQL has each acknowledged order', haveAll)
  assert.deepEqual(await postgres.rows(ORDERS_WITHOUT_THEIR_EVENTS), [], 'orders without their events')
  const shared = await postgres.rows(
    'select address from vpn_sessions where closed_at is null group by address having count(*) > 1',
  )
  assert.deepEqual(shared, [], 'addresses of two live sessions')
}

function lostOf(acknowledged: ReadonlyMap<string, OrderStep>, rows: readonly QueryResultRow[]) {
  const statuses = new Map(rows.map(({ order_id, status }) => [order_id, String(status)]))
  return [...acknowledged].filter(([id, status]) => !canHaveBecome(statuses.get(id), status))
}

/**
 * No two servers of PostgreSQL were the primary on one timeline: each timeline was ended once, by the next promotion, and all
 * servers are on the last one. Returns the number of promotions.
 */
export async function requireOnePrimary({ postgres }: Cluster): Promise<number> {
  const last = await postgres.untilFollowed()
  const ended = Array.from({ length: last - 1 }, (_, index) => index + 1)
  assert.deepEqual(await postgres.endedTimelines(), ended, 'timelines that have ended')
  return last - 1
}

/** What a stream may have, because NATS has failed or lost a message. */
export interface Irregular {
  /** Delivery is at least once, and the stream drops only what is repeated within its duplicate window. */
  readonly twice: number
  /**
   * Behind a later one that was sent with it (docs/decisions/0003-transactional-outbox.md, What is promised, and what is
   * not).
   */
  readonly late: number
}

/**
 * What must hold when the clients have stopped: each message until `last` is in each replica of the stream, in order. One that
 * was sent again is there too, but later.
 */
export async function requireDeliveries(
  { postgres, bus }: Cluster,
  load: Load,
  last: number,
  { replayed }: Replay,
): Promise<Irregular> {
  // Sessions that have just ended still write events.
  const rows = await postgres.rows(`select id from messages where seq <= ${last}`)
  const ids = new Set(rows.map(({ id }) => String(id)))
  let [twice, late] = [0, 0]
  for (const replica of await readReplicas(bus.servers.split(','), 'PLATFORM')) {
    late = Math.max(late, await requireNumbers(postgres, load, replayed, replica))
    twice = Math.max(twice, requireEach(ids, replayed, replica))
  }
  return { twice, late }
}

/** The messages of each client, which are numbered. Returns how many are late. */
async function requireNumbers(
  postgres: Cluster['postgres'],
  load: Load,
  replayed: Replay['replayed'],
  { server, messages }: Replica,
): Promise<number> {
  let late = 0
  for (const [lane, count] of load.messages) {
    const known = new Set(numbersOfLane(lane, messages))
    const missing = Array.from({ length: count }, (_, index) => index + 1).filter(
      (number) => !known.has(number),
    )
    const rows = missing.length === 0 ? [] : await findMessages(postgres, lane, missing)
    assert.deepEqual(
      missing,
      [],
      `${lane}: missing in the stream on ${server}; in the database: ${JSON.stringify(rows)}`,
    )
    const sent = numbersOfLane(
      lane,
      messages.filter(({ id }) => !replayed.has(id)),
    )
    // A repetition comes later than the first one.
    const behind = lateOf([...new Set(sent)])
    const failed = behind.length === 0 ? [] : await findFailed(postgres, lane)
    const unexplained = behind.filter((number) => !failed.some((first) => isInBatchOf(first, number)))
    assert.deepEqual(unexplained, [], `${lane}: behind later messages in the stream on ${server}`)
    late += behind.length
  }
  return late
}

/** The numbers that come behind a higher one. */
function lateOf(numbers: readonly number[]): readonly number[] {
  let highest = 0
  return numbers.filter((number) => {
    const isLate = number < highest
    highest = Math.max(highest, number)
    return isLate
  })
}

// As many messages are sent together at most.
const BATCH_SIZE = 500

function isInBatchOf(first: number, number: number): boolean {
  return first <= number && number - first < BATCH_SIZE
}

/** The numbers of the messages of a client that were sent more than once: the first ones that failed in their batches. */
async function findFailed(postgres: Cluster['postgres'], lane: string): Promise<readonly number[]> {
  const rows = await postgres.rows(
    `select subject, payload from messages where subject = '${NUMBERED_SUBJECT}' and attempts > 1`,
  )
  const failed = rows.map((row) => ({ subject: String(row['subject']), payload: String(row['payload']) }))
  return numbersOfLane(lane, failed)
}

/** Returns how many messages are there twice without having been sent again by an operator. */
function requireEach(
  delivered: ReadonlySet<string>,
  replayed: Replay['replayed'],
  { server, messages }: Replica,
): number {
  const ids = messages.map(({ id }) => id)
  const lost = delivered.difference(new Set(ids))
  assert.deepEqual([...lost], [], `delivered messages that are not in the stream on ${server}`)
  const others = ids.filter((id) => !replayed.has(id))
  return others.length - new Set(others).size
}

/** What the database has of messages of a client: without a row, the database has lost it, not the bus. */
function findMessages(postgres: Cluster['postgres'], lane: string, numbers: readonly number[]) {
  const titles = numbers.map((number) => `'${lane}/${number}'`).join(', ')
  return postgres.rows(
    `select payload, seq, status, attempts, delivered_at, last_error from messages
     where subject = '${NUMBERED_SUBJECT}' and payload::jsonb -> 'data' ->> 'title' in (${titles}) order by seq`,
  )
}

/** Resolves when every event that there is now has been delivered, with the number of the last one. */
export async function untilDelivered({ postgres }: Cluster): Promise<number> {
  const [newest] = await postgres.rows('select coalesce(max(seq), 0) as seq from messages')
  const last = Number(newest?.['seq'])
  const pending = `
    select subject, count(*), max(attempts) as attempts, max(last_error) as error from messages
    where status = 'pending' and seq <= ${last} group by subject limit 10`
  const requireNone = async () => {
    assert.deepEqual(await postgres.rows(pending), [])
    return true
  }
  await eventually('every event is delivered', requireNone, { timeoutMs: 60_000 })
  return last
}
