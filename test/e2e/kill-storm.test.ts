import assert from 'node:assert/strict'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { listenTo, readStream, withoutRepetitions, type Arrival } from '../support/bus-reader.ts'
import { eventually } from '../support/eventually.ts'
import { startNats } from '../support/nats.ts'
import { ORDER_WAY, startOrderClients, type OrderStep } from '../support/order-clients.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { chanceOf, type Chance } from '../support/random.ts'
import { scopeOf } from '../support/scope.ts'

// reliability, R-1: 40 kills for each commit; more of them by hand or by night.
const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 40)
const STORMS = [
  { modules: ['all'], rounds: Math.ceil(ROUNDS * 0.6), title: 'everything in one process' },
  {
    modules: ['api', 'worker'],
    rounds: Math.floor(ROUNDS * 0.4),
    title: 'api and worker apart, killed one by one',
  },
] as const
const CLIENTS = 8
const LONGEST_LOAD_MS = 300

const EVENT_OF: Readonly<Record<string, string>> = {
  pending: 'order.created',
  paid: 'order.paid',
  shipped: 'order.shipped',
  completed: 'order.completed',
  expired: 'order.timeout',
}

interface Row {
  readonly [column: string]: unknown
}

describe(
  `${ROUNDS} rounds of kill -9 under load lose no acknowledged order and no event`,
  { concurrency: 2 },
  () => {
    for (const { title, modules, rounds } of STORMS) {
      test(`${rounds} rounds of ${title}`, (t) => storm(t, modules, rounds))
    }
  },
)

async function storm(t: TestContext, modules: readonly string[], rounds: number): Promise<void> {
  const chance = chanceOf(t)
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const nats = await startNats({ jetstream: true })
  scope.defer(() => nats.stop())
  const listener = scope.use(await listenTo(nats.url, ['order.>', 'alert.>']))
  const env = { BUS_SERVER: nats.url, WORKER_ORDER_SCAN: '50ms' }
  const serve = async (module: string) => scope.use(await servePlatform({ dataDir, modules: module, env }))

  const acknowledged = new Map<string, OrderStep>()
  for (let round = 1; round <= rounds; round++) {
    t.signal.throwIfAborted()
    const processes = await Promise.all(modules.map(serve))
    const told = await loadAndKill(processes, `r${round}`, chance)
    for (const [id, status] of told) acknowledged.set(id, status)
    requireIntegrity(dataDir, round)
  }

  const last = await serve('all')
  await eventually('everything to be delivered', async () => {
    const answer = await last.call('GET', '/messages?status=pending&limit=1')
    return ((await answer.json()) as { items: unknown[] }).items.length === 0
  })
  assert.equal(await last.stop(), 0)

  using database = new DatabaseSync(join(dataDir, 'platform.db'), { readOnly: true })
  const rows = (sql: string): Row[] => database.prepare(sql).all()
  t.diagnostic(
    `${acknowledged.size} orders were acknowledged, ${rows('select 1 from orders').length} are there`,
  )
  assert.ok(acknowledged.size > rounds, 'the load was too small to show anything')
  requireAcknowledged(acknowledged, rows('select order_id, status from orders'))
  requireEvents(rows)
  const messages = rows('select id, subject, status from messages order by seq')
  assert.deepEqual(new Set(messages.map(({ status }) => status)), new Set(['delivered']))
  requireOrder(messages, await readStream(nats.url, 'PLATFORM'), 'the stream')
  const heard = listener.lives.flat()
  t.diagnostic(`${heard.length - messages.length} of ${messages.length} messages were sent again`)
  requireOrder(messages, withoutRepetitions(heard), 'a subscriber')
}

/** Answers what the clients were told before the kill. */
async function loadAndKill(
  processes: readonly ServedPlatform[],
  prefix: string,
  chance: Chance,
): Promise<ReadonlyMap<string, OrderStep>> {
  const [api] = processes as readonly [ServedPlatform]
  const clients = startOrderClients({ url: api.url, clients: CLIENTS, prefix, chance })
  // In most rounds the load is on when the kill comes; in some the kill meets the very first calls.
  if (chance.number() < 0.8) await eventually('some load', () => clients.acknowledged.size > 0)
  await pause(chance.between(0, LONGEST_LOAD_MS))
  await killInDisorder(processes, chance)
  await clients.stop()
  assert.deepEqual(clients.surprises, [], prefix)
  return clients.acknowledged
}

/** All of them, or one of two first and the other a moment later. */
async function killInDisorder(processes: readonly ServedPlatform[], chance: Chance): Promise<void> {
  const order = chance.number() < 0.5 ? processes : processes.toReversed()
  for (const each of order) {
    await each.kill()
    await pause(chance.between(0, 50))
  }
}

/** Of a copy, so that the next start has to bring the database back from where the kill left it by itself. */
function requireIntegrity(dataDir: string, round: number): void {
  using copy = temporaryDirectory()
  for (const name of ['platform.db', 'platform.db-wal']) {
    if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(copy.path, name))
  }
  using database = new DatabaseSync(join(copy.path, 'platform.db'))
  const check = database.prepare('pragma integrity_check').all()
  assert.deepEqual(
    check.map((row) => row['integrity_check']),
    ['ok'],
    `round ${round}`,
  )
}

function requireAcknowledged(acknowledged: ReadonlyMap<string, OrderStep>, orders: readonly Row[]): void {
  const statuses = new Map(orders.map(({ order_id, status }) => [order_id, String(status)]))
  const lost = [...acknowledged].filter(([id, status]) => !hasCome(statuses.get(id), status))
  assert.deepEqual(lost, [], 'acknowledged, and not there')
}

/** Nobody moves an order but its client, which may not have heard of its last move, and the worker. */
function hasCome(found: string | undefined, status: OrderStep): boolean {
  if (found === 'expired') return status === 'pending'
  return ORDER_WAY.findIndex((each) => each === found) >= ORDER_WAY.indexOf(status)
}

/** Every arrival of an order in a status has its event, and every event its arrival; every expiry has its alert. */
function requireEvents(rows: (sql: string) => Row[]): void {
  const arrivals = rows(
    `select order_id, 'pending' as status from orders union all select order_id, to_status from order_history`,
  )
  const events = rows(
    `select subject || ' ' || json_extract(payload, '$.subject') as event from messages where subject like 'order.%'`,
  )
  assert.deepEqual(
    sorted(events.map(({ event }) => event)),
    sorted(arrivals.map(({ order_id, status }) => `${EVENT_OF[String(status)]} ${String(order_id)}`)),
  )
  const alerts = rows(`select alarm_id from alerts where source = 'platform.orders'`)
  const expired = rows(`select order_id from orders where status = 'expired'`)
  assert.deepEqual(
    sorted(alerts.map((alert) => alert['alarm_id'])),
    sorted(expired.map(({ order_id }) => `order.timeout:${String(order_id)}`)),
  )
}

function sorted(values: readonly unknown[]): string[] {
  return values.map(String).sort()
}

/** What a receiver has is all that was written, each subject in the order of the commits. */
function requireOrder(messages: readonly Row[], received: readonly Arrival[], receiver: string): void {
  const idsBySubject = (list: readonly { subject?: unknown; id?: unknown }[]) => {
    const groups = Map.groupBy(list, ({ subject }) => String(subject))
    return Object.fromEntries([...groups].map(([subject, some]) => [subject, some.map(({ id }) => id)]))
  }
  const [written, arrived] = [idsBySubject(messages), idsBySubject(received)]
  assert.deepEqual(Object.keys(arrived).sort(), Object.keys(written).sort(), receiver)
  for (const [subject, ids] of Object.entries(written)) {
    assert.equal(arrived[subject]?.length, ids.length, `${receiver}, ${subject}`)
    const wrong = ids.findIndex((id, index) => arrived[subject]?.[index] !== id)
    assert.equal(wrong, -1, `${receiver}: message ${wrong} of ${subject} is out of its order`)
  }
}
