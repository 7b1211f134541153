import type { Bench } from './support/bench.ts'
import { requireSuccess, p99Of, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator, type LoadGenerator } from './support/load-generator.ts'
import type { Slice } from './support/load.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { postOrders } from './support/order-load.ts'
import { startPlatform } from './support/platform-server.ts'
import { makeDatabase, serverProcess, startDurablePostgres } from './support/postgres-server.ts'
import { familySeconds, processorSeconds } from './support/processor.ts'
import { interleave, type Contestant, type Round } from './support/rounds.ts'
import { freePort } from '../test/support/loopback.ts'
import { diskDirectory } from './support/servers.ts'

const APIS = 3

/** Durable `POST /orders` on one PostgreSQL, with one api and with several. */
export const scaleOut: Bench = {
  name: 'scale-out',
  title: 'P17: several apis on one PostgreSQL',
  summary: 'durable POST /orders with 1, 2 and 3 apis on one PostgreSQL, and the processor time of each part',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const server = await startDurablePostgres(stack)
    const database = { url: await makeDatabase(server, 'scale_out'), pid: await serverProcess(server) }
    const apis: Api[] = []
    while (apis.length < APIS) apis.push(await startApi(stack, database.url))
    const generator = stack.use(startLoadGenerator())
    const contestants = apis.map((_, index) =>
      withApis(apis.slice(0, index + 1), { generator, database: database.pid }),
    )
    return measuresOf(await interleave(contestants, options))
  },
}

interface Api {
  readonly pid: number
  readonly port: number
}

async function startApi(stack: AsyncDisposableStack, url: string): Promise<Api> {
  const port = await freePort()
  const { path: dataDir } = stack.use(diskDirectory())
  const { pid } = stack.use(await startPlatform({ dataDir, port, env: { DATABASE_URL: url } }))
  return { pid, port }
}

/** The load of one slice, and the processor time of each new order, in microseconds. */
interface Sample extends Slice {
  readonly apiTime: number
  readonly databaseTime: number
}

interface World {
  readonly generator: LoadGenerator
  /** The first process of PostgreSQL. */
  readonly database: number
}

/** The connections of the load are spread over these apis. */
function withApis(apis: readonly Api[], { generator, database }: World): Contestant<Sample> {
  const [port = 0, ...morePorts] = apis.map((api) => api.port)
  const name = nameOf(apis.length)
  const target = { ...postOrders(port), morePorts }
  const timeOfApis = () => apis.reduce((sum, { pid }) => sum + processorSeconds(pid), 0)
  return {
    name,
    async run(forMs) {
      const before = { apis: timeOfApis(), database: familySeconds(database) }
      const slice = requireSuccess(name, await generator.apply(target, forMs))
      const orders = Object.values(slice.statuses).reduce((sum, count) => sum + count, 0)
      const ofEachOrder = (seconds: number) => (seconds * 1_000_000) / orders
      return {
        ...slice,
        apiTime: ofEachOrder(timeOfApis() - before.apis),
        databaseTime: ofEachOrder(familySeconds(database) - before.database),
      }
    },
  }
}

function nameOf(apis: number): string {
  return apis === 1 ? '1 api' : `${apis} apis`
}

// docs/performance.md, P17: several apis on one PostgreSQL
const TIME = { must: { atLeast: 0.8 } }

const wholeTimeOf = ({ apiTime, databaseTime }: Sample) => apiTime + databaseTime

function measuresOf(rounds: readonly Round<Sample>[]): Measure[] {
  const each = Array.from({ length: APIS }, (_, index) => nameOf(index + 1))
  const one = nameOf(1)
  const several = each.slice(1)
  const ofEach = (what: string, unit: string, figure: (sample: Sample) => number) =>
    each.map((name) => ({ what: `${name}, ${what}`, unit, values: figures(rounds, name, figure) }))
  return [
    ...several.map((name) => ({
      what: `processor time of an order, ${one} ÷ ${name}`,
      values: ratio(rounds, one, name, wholeTimeOf),
      ...TIME,
    })),
    ...several.map((name) => ({
      what: `rate, ${name} ÷ ${one}`,
      values: ratio(rounds, name, one, rateOf),
    })),
    {
      what: 'cores of PostgreSQL for each core of an api',
      values: figures(rounds, one, ({ apiTime, databaseTime }) => databaseTime / apiTime),
    },
    ...ofEach('an order at PostgreSQL', 'µs', ({ databaseTime }) => databaseTime),
    ...ofEach('an order at the apis', 'µs', ({ apiTime }) => apiTime),
    ...ofEach('orders', 'requests/s', rateOf),
    ...ofEach('p99', 'ms', p99Of),
  ]
}
