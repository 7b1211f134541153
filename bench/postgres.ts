import { Client, Pool, type ClientBase } from 'pg'
import type { Bench } from './support/bench.ts'
import { loadContestants, p99Of, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator } from './support/load-generator.ts'
import type { LoadTarget, Slice } from './support/load.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { CONNECTIONS, postOrders } from './support/order-load.ts'
import { startPlatform } from './support/platform-server.ts'
import { familySeconds, SHORTEST_COUNTED_MS } from './support/processor.ts'
import { inDatabase, makeDatabase, serverProcess, startDurablePostgres } from './support/postgres-server.ts'
import { interleave, type Contestant, type Round, type RoundOptions } from './support/rounds.ts'
import { freePort } from '../test/support/loopback.ts'
import { diskDirectory } from './support/servers.ts'
import { quantile } from './support/statistics.ts'

const MANY = { full: 1_000_000, small: 1_000 }
// As many as the platform opens.
const POOL_SIZE = 10
// As the platform groups its writes.
const GROUPS = { connections: 2, orders: 32 }

/** Durable `POST /orders` on PostgreSQL, against clients that send the same statements and do nothing else. */
export const postgres: Bench = {
  name: 'postgres',
  title: 'P11: durable POST /orders on PostgreSQL',
  summary: 'durable POST /orders on PostgreSQL, against the same statements of bare pg clients',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const many = options.small ? MANY.small : MANY.full
    const server = await startDurablePostgres(stack)
    const targets = {
      platform: await startOn(stack, await makeDatabase(server, 'few')),
      many: await startOn(stack, await makeFullDatabase(server, 'many', many, options)),
    }
    const contestants = [
      singleClient(stack, await makeDatabase(server, 'single')),
      await groupClient(stack, await makeDatabase(server, 'grouped')),
      ...loadContestants(stack.use(startLoadGenerator()), targets),
    ]
    const pid = await serverProcess(server)
    const measured = contestants.map((contestant) => withDatabaseTime(contestant, pid))
    return measuresOf(await interleave(measured, options), many)
  },
}

/** The load of one slice, and the processor time of PostgreSQL for each order, in microseconds. */
interface Sample extends Slice {
  readonly databaseTime: number
}

function withDatabaseTime({ name, run }: Contestant, pid: number): Contestant<Sample> {
  return {
    name,
    async run(forMs) {
      const before = familySeconds(pid)
      const slice = await run(Math.max(forMs, SHORTEST_COUNTED_MS))
      const orders = Object.values(slice.statuses).reduce((sum, count) => sum + count, 0)
      return { ...slice, databaseTime: ((familySeconds(pid) - before) * 1_000_000) / orders }
    },
  }
}

/** A database of that name with so many orders; answers its address. */
async function makeFullDatabase(
  server: string,
  name: string,
  orders: number,
  { onSlice }: RoundOptions,
): Promise<string> {
  const url = await makeDatabase(server, name)
  onSlice(`filling a database with ${orders.toLocaleString('en')} orders`)
  await inDatabase(url, [ORDERS.replace('COUNT', String(orders)), 'vacuum analyze'])
  return url
}

const ORDERS = `
  insert into orders (order_id, platform, amount_cents, status, expires_at, created_at, created_by, updated_at,
    paid_at, completed_at, version)
  select 'seed-' || n, 'live', 4990, 'completed', n, n, 'seed', n, n, n, 3 from generate_series(1, COUNT) as n`

async function startOn(stack: AsyncDisposableStack, url: string): Promise<LoadTarget> {
  const port = await freePort()
  const { path: dataDir } = stack.use(diskDirectory())
  stack.use(await startPlatform({ dataDir, port, env: { DATABASE_URL: url } }))
  return postOrders(port)
}

/** A transaction for each order, on a pool of as many connections as the platform has. */
function singleClient(stack: AsyncDisposableStack, url: string): Contestant {
  const pool = new Pool({ connectionString: url, max: POOL_SIZE })
  stack.defer(() => pool.end())
  const insert = async () => {
    const client = await pool.connect()
    await client.query('begin')
    await insertOrder(client)
    await client.query('commit')
    client.release()
  }
  return { name: 'single', run: (forMs) => callAgainAndAgain(insert, forMs) }
}

/** A transaction for all orders that wait, on two connections whose statements wait for no answers. */
async function groupClient(stack: AsyncDisposableStack, url: string): Promise<Contestant> {
  const waiting: (() => void)[] = []
  const idle: Client[] = []
  const commitGroup = async () => {
    const client = waiting.length > 0 ? idle.pop() : undefined
    if (!client) return
    const group = waiting.splice(0, GROUPS.orders)
    await Promise.all([client.query('begin'), ...group.map(() => insertOrder(client))])
    await client.query('commit')
    for (const resolve of group) resolve()
    idle.push(client)
    setImmediate(() => void commitGroup())
  }
  for (let count = 0; count < GROUPS.connections; count++) {
    const client = new Client({ connectionString: url, pipeline: true })
    await client.connect()
    stack.defer(() => client.end())
    idle.push(client)
  }
  const insert = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve)
      setImmediate(() => void commitGroup())
    })
  return { name: 'grouped', run: (forMs) => callAgainAndAgain(insert, forMs) }
}

/** As many callers as there are connections under load. */
async function callAgainAndAgain(call: () => Promise<void>, forMs: number): Promise<Slice> {
  const begin = performance.now()
  const idleBefore = performance.eventLoopUtilization()
  const times: number[] = []
  const caller = async () => {
    while (performance.now() - begin < forMs) {
      const startedAt = performance.now()
      await call()
      times.push(performance.now() - startedAt)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, caller))
  const sorted = Float64Array.from(times).sort()
  return {
    rate: times.length / ((performance.now() - begin) / 1_000),
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    statuses: { 200: times.length },
    generatorBusy: performance.eventLoopUtilization(idleBefore).utilization,
  }
}

// The statements of one new order (domains/orders/store.ts, domains/messages/store.ts), parsed by the server once.
const INSERT_ORDER = {
  name: 'order',
  text: `insert into orders (order_id, platform, amount_cents, status, expires_at, created_at, created_by, updated_at,
    paid_at, shipped_at, completed_at, expired_at, version)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict (order_id) do nothing`,
}
const INSERT_MESSAGE = {
  name: 'message',
  text: `insert into messages (id, subject, payload, headers, status, attempts, last_error, created_at, delivered_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
}
const PAYLOAD = JSON.stringify({ padding: 'x'.repeat(540) })
const HEADERS = '{"content-type":"application/cloudevents+json; charset=utf-8"}'

let sequence = 0

async function insertOrder(client: ClientBase): Promise<void> {
  const [id, now] = [`bare-${sequence++}`, Date.now()]
  const empty = [null, null, null, null]
  const order = [id, 'live', 4_990, 'pending', now + 900_000, now, 'bench', now, ...empty, 1]
  const message = [id, 'order.created', PAYLOAD, HEADERS, 'pending', 0, null, now, null]
  const inserted = client.query({ ...INSERT_ORDER, values: order })
  await Promise.all([inserted, client.query({ ...INSERT_MESSAGE, values: message })])
}

// docs/performance.md, P11: `POST /orders` on PostgreSQL
const OF_GROUPED = { must: { atLeast: 0.6 } }
const OF_SINGLE = { must: { atLeast: 1 } }
const TIME = { must: { atMost: 0.5 } }

const timeOf = ({ databaseTime }: Sample) => databaseTime

function measuresOf(rounds: readonly Round<Sample>[], many: number): Measure[] {
  return [
    {
      what: 'rate ÷ client with groups',
      values: ratio(rounds, 'platform', 'grouped', rateOf),
      ...OF_GROUPED,
    },
    {
      what: 'rate ÷ client with a transaction for each order',
      values: ratio(rounds, 'platform', 'single', rateOf),
      ...OF_SINGLE,
    },
    {
      what: 'processor time of PostgreSQL for an order ÷ client with a transaction for each order',
      values: ratio(rounds, 'platform', 'single', timeOf),
      ...TIME,
    },
    {
      what: `rate, beside ${many.toLocaleString('en')} orders ÷ beside few`,
      values: ratio(rounds, 'many', 'platform', rateOf),
    },
    { what: 'platform', unit: 'requests/s', values: figures(rounds, 'platform', rateOf) },
    { what: 'client with groups', unit: 'orders/s', values: figures(rounds, 'grouped', rateOf) },
    {
      what: 'client with a transaction for each order',
      unit: 'orders/s',
      values: figures(rounds, 'single', rateOf),
    },
    { what: 'platform, an order at PostgreSQL', unit: 'µs', values: figures(rounds, 'platform', timeOf) },
    {
      what: 'client with groups, an order at PostgreSQL',
      unit: 'µs',
      values: figures(rounds, 'grouped', timeOf),
    },
    { what: 'platform, p99', unit: 'ms', values: figures(rounds, 'platform', p99Of) },
    { what: 'client with groups, p99', unit: 'ms', values: figures(rounds, 'grouped', p99Of) },
  ]
}
