import { freePort } from '../test/support/loopback.ts'
import type { Bench } from './support/bench.ts'
import { userId, USERS } from './support/client-socket.ts'
import { requireSuccess, p99Of, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator, type LoadGenerator } from './support/load-generator.ts'
import type { Slice } from './support/load.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { postOrders } from './support/order-load.ts'
import { startPlatform } from './support/platform-server.ts'
import { inDatabase, makeDatabase, serverProcess, startDurablePostgres } from './support/postgres-server.ts'
import { familySeconds, processorSeconds, SHORTEST_COUNTED_MS, untilQuiet } from './support/processor.ts'
import { interleave, type Contestant, type Round, type RoundOptions } from './support/rounds.ts'
import { diskDirectory } from './support/servers.ts'
import { startSocketClients, type SocketClients } from './support/socket-clients.ts'
import { JWT_SECRET } from './support/tokens.ts'

const APIS = 3
const GATEWAYS = 2

/** Durable `POST /orders` with one api and with several, and sessions with one gateway and with two, on one PostgreSQL. */
export const scaleOut: Bench = {
  name: 'scale-out',
  title: 'P17: several apis and gateways on one PostgreSQL',
  summary:
    'durable POST /orders with 1, 2 and 3 apis, accepts with 1 and 2 gateways on one PostgreSQL, and the processor time of each part',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const server = await startDurablePostgres(stack)
    const database = { url: await makeDatabase(server, 'scale_out'), pid: await serverProcess(server) }
    const ofApis = await measureApis(stack, database, options)
    const ofGateways = await measureGateways(stack, database, options)
    return [
      ...ratiosOf(APIS, 'api', 'an order', ofApis),
      ...ratiosOf(GATEWAYS, 'gateway', 'an accept', ofGateways),
      ...figuresOf(APIS, 'api', 'an order', ofApis),
      ...figuresOf(GATEWAYS, 'gateway', 'an accept', ofGateways),
    ]
  },
}

interface Database {
  readonly url: string
  /** Its first process. */
  readonly pid: number
}

interface Platform {
  readonly pid: number
  readonly port: number
}

async function measureApis(
  stack: AsyncDisposableStack,
  database: Database,
  options: RoundOptions,
): Promise<readonly Round<Sample>[]> {
  const apis: Platform[] = []
  while (apis.length < APIS) apis.push(await start(stack, database, 'api'))
  const generator = stack.use(startLoadGenerator())
  return interleave(
    severalOf(apis, 'api').map((some) => withApis(some, { generator, database })),
    options,
  )
}

async function measureGateways(
  stack: AsyncDisposableStack,
  database: Database,
  options: RoundOptions,
): Promise<readonly Round<Sample>[]> {
  await inDatabase(database.url, [ADD_USERS])
  const gateways: Platform[] = []
  while (gateways.length < GATEWAYS)
    gateways.push(await start(stack, database, 'gateway', `g${gateways.length + 1}`))
  const clients = stack.use(startSocketClients())
  return interleave(
    severalOf(gateways, 'gateway').map((some) => withGateways(some, { clients, database })),
    options,
  )
}

// As userId names them.
const ADD_USERS = `
  insert into users (id, name, name_key, password_hash, roles, enabled, token_generation, tokens_valid_from,
    created_at, updated_at)
  select id, id, id, '', 'service', 1, 1, 0, 0, 0
  from (select '${userId(0).slice(0, -5)}' || lpad(number::text, 5, '0') as id
    from generate_series(0, ${USERS - 1}) as number) as numbered`

async function start(
  stack: AsyncDisposableStack,
  { url }: Database,
  modules: 'api' | 'gateway',
  name = '',
): Promise<Platform> {
  const port = await freePort()
  const { path: dataDir } = stack.use(diskDirectory())
  const gateway = {
    GATEWAY_NAME: name,
    // No request is sent through the sessions.
    GATEWAY_API_URL: 'http://127.0.0.1:1',
    VPN_IP_POOL: '100.64.0.0/12',
    VPN_CONNECTION_RATE: '1000000',
    VPN_CONNECTION_BURST: '1000000',
  }
  const env = { DATABASE_URL: url, JWT_SECRET, ...(modules === 'gateway' && gateway) }
  const { pid } = stack.use(await startPlatform({ dataDir, port, modules, env }))
  return { pid, port }
}

interface Some {
  readonly name: string
  readonly processes: readonly Platform[]
}

/** The first one, the first two and so on. */
function severalOf(processes: readonly Platform[], kind: string): Some[] {
  return processes.map((_, index) => ({
    name: nameOf(index + 1, kind),
    processes: processes.slice(0, index + 1),
  }))
}

function nameOf(count: number, kind: string): string {
  return count === 1 ? `1 ${kind}` : `${count} ${kind}s`
}

/** The load of one slice, and the processor time of each request, in microseconds. */
interface Sample extends Slice {
  readonly ownTime: number
  readonly databaseTime: number
}

/** The connections of the load are spread over these apis. */
function withApis(
  { name, processes }: Some,
  { generator, database }: { readonly generator: LoadGenerator; readonly database: Database },
): Contestant<Sample> {
  const [port = 0, ...morePorts] = processes.map((api) => api.port)
  const target = { ...postOrders(port), morePorts }
  return {
    name,
    run: (forMs) =>
      measureTimes(processes, database, async () =>
        requireSuccess(name, await generator.apply(target, Math.max(forMs, SHORTEST_COUNTED_MS))),
      ),
  }
}

/** New sessions are spread over these gateways. */
function withGateways(
  { name, processes }: Some,
  { clients, database }: { readonly clients: SocketClients; readonly database: Database },
): Contestant<Sample> {
  const [port = 0, ...morePorts] = processes.map((gateway) => gateway.port)
  const target = { port, morePorts, path: '/vpn', openedBy: '{"type":"session"' }
  return {
    name,
    async run(forMs) {
      const sample = await measureTimes(processes, database, () =>
        clients.open(target, Math.max(forMs, SHORTEST_COUNTED_MS)),
      )
      // The ends of the sessions are not part of the next slice.
      for (const { pid } of processes) await untilQuiet(pid)
      return sample
    },
  }
}

async function measureTimes(
  processes: readonly Platform[],
  database: Database,
  load: () => Promise<Slice>,
): Promise<Sample> {
  const ownSeconds = () => processes.reduce((sum, { pid }) => sum + processorSeconds(pid), 0)
  const before = { own: ownSeconds(), database: familySeconds(database.pid) }
  const slice = await load()
  const requests = Object.values(slice.statuses).reduce((sum, count) => sum + count, 0)
  const ofEach = (seconds: number) => (seconds * 1_000_000) / requests
  return {
    ...slice,
    ownTime: ofEach(ownSeconds() - before.own),
    databaseTime: ofEach(familySeconds(database.pid) - before.database),
  }
}

// docs/performance.md, P17: several apis and gateways on one PostgreSQL
const TIME = { must: { atLeast: 0.8 } }

const wholeTimeOf = ({ ownTime, databaseTime }: Sample) => ownTime + databaseTime

function ratiosOf(count: number, kind: string, request: string, rounds: readonly Round<Sample>[]): Measure[] {
  const [one = '', ...several] = Array.from({ length: count }, (_, index) => nameOf(index + 1, kind))
  return [
    ...several.map((name) => ({
      what: `processor time of ${request}, ${one} ÷ ${name}`,
      values: ratio(rounds, one, name, wholeTimeOf),
      ...TIME,
    })),
    ...several.map((name) => ({
      what: `rate, ${name} ÷ ${one}`,
      values: ratio(rounds, name, one, rateOf),
    })),
    {
      what: `cores of PostgreSQL for each core of ${kind === 'api' ? 'an api' : 'a gateway'}`,
      values: figures(rounds, one, ({ ownTime, databaseTime }) => databaseTime / ownTime),
    },
  ]
}

function figuresOf(
  count: number,
  kind: string,
  request: string,
  rounds: readonly Round<Sample>[],
): Measure[] {
  const each = Array.from({ length: count }, (_, index) => nameOf(index + 1, kind))
  const ofEach = (what: string, unit: string, figure: (sample: Sample) => number) =>
    each.map((name) => ({ what: `${name}, ${what}`, unit, values: figures(rounds, name, figure) }))
  return [
    ...ofEach(`${request} at PostgreSQL`, 'µs', ({ databaseTime }) => databaseTime),
    ...ofEach(`${request} at the ${kind}s`, 'µs', ({ ownTime }) => ownTime),
    ...ofEach('rate', 'requests/s', rateOf),
    ...ofEach('p99', 'ms', p99Of),
  ]
}
