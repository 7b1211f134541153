import { fileURLToPath } from 'node:url'
import { DIRECTUS_HEADERS, startDirectus } from './peers/directus.ts'
import { startFeathers } from './peers/feathers.ts'
import type { Bench } from './support/bench.ts'
import { startDurableOrders } from './support/durable-servers.ts'
import { loadContestants, p99Of, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator } from './support/load-generator.ts'
import type { LoadTarget } from './support/load.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { postOrders } from './support/order-load.ts'
import { issueToken, startPlatform } from './support/platform-server.ts'
import { interleave, type Round, type RoundOptions } from './support/rounds.ts'
import { seedOrders } from './support/seed.ts'
import { freePort } from '../test/support/loopback.ts'
import { diskDirectory, startServer } from './support/servers.ts'

const ECHO = fileURLToPath(new URL('./servers/echo.ts', import.meta.url))
const MANY = { full: 1_000_000, small: 1_000 }

/** Durable `POST /orders` through everything, against a bare server that commits the same rows, and peers. */
export const orders: Bench = {
  name: 'orders',
  title: 'P1: durable POST /orders',
  summary: 'durable POST /orders through everything, against a bare durable server, Feathers and Directus',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const many = options.small ? MANY.small : MANY.full
    const peers = options.small ? {} : await startPeers(stack, options)
    const targets = { ...(await startServers(stack, many, options)), ...peers }
    const contestants = loadContestants(stack.use(startLoadGenerator()), targets)
    const rounds = await interleave(contestants, options)
    return [
      ...measuresOf(rounds),
      {
        what: `rate, beside ${many.toLocaleString('en')} orders ÷ beside few`,
        values: ratio(rounds, 'many', 'headers', rateOf),
      },
      ...Object.keys(peers).flatMap((name) => peerMeasures(rounds, name)),
      ...absoluteFigures(rounds),
    ]
  },
}

async function startServers(
  stack: AsyncDisposableStack,
  many: number,
  options: RoundOptions,
): Promise<Record<string, LoadTarget>> {
  const port = await freePort()
  const { path: dataDir } = stack.use(diskDirectory())
  stack.use(await startPlatform({ dataDir, port }))
  const token = await issueToken(dataDir)
  return {
    echo: postOrders(await startEcho(stack)),
    durable: postOrders(await startDurable(stack)),
    headers: postOrders(port),
    token: postOrders(port, { authorization: `Bearer ${token}` }),
    many: postOrders(await startSeeded(stack, many, options)),
  }
}

async function startEcho(stack: AsyncDisposableStack): Promise<number> {
  const port = await freePort()
  const command = [process.execPath, ECHO, String(port)]
  stack.use(await startServer({ command, port, cwd: stack.use(diskDirectory()).path }))
  return port
}

async function startDurable(stack: AsyncDisposableStack): Promise<number> {
  const port = await freePort()
  stack.use(await startDurableOrders({ dataDir: stack.use(diskDirectory()).path, port }))
  return port
}

/** The platform, on a database that has so many orders and their events already. */
async function startSeeded(
  stack: AsyncDisposableStack,
  orders: number,
  options: RoundOptions,
): Promise<number> {
  const port = await freePort()
  const { path: dataDir } = stack.use(diskDirectory())
  await seedOrders(dataDir, { orders, events: true }, options)
  stack.use(await startPlatform({ dataDir, port }))
  return port
}

/** Starts each peer, and returns the request that creates an order there. */
const PEERS: Readonly<Record<string, (stack: AsyncDisposableStack) => Promise<LoadTarget>>> = {
  'Feathers + knex': async (stack) => postOrders(await startFeathers(stack), {}),
  Directus: async (stack) => postOrders((await startDirectus(stack)).port, DIRECTUS_HEADERS, '/items/orders'),
}

/** The peers that can be installed here. */
async function startPeers(
  stack: AsyncDisposableStack,
  { signal, onSlice, note }: RoundOptions,
): Promise<Record<string, LoadTarget>> {
  const started: Record<string, LoadTarget> = {}
  for (const [name, start] of Object.entries(PEERS)) {
    signal.throwIfAborted()
    onSlice(`installing and starting ${name}`)
    try {
      started[name] = await start(stack)
    } catch (error) {
      note(`${name} could not be measured: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return started
}

// docs/performance.md, P1: durable `POST /orders`
const RATE = { must: { atLeast: 0.6 }, better: { atLeast: 0.85 } }
const P99 = { must: { atMost: 1.3 } }
const TO_PEER: Readonly<Record<string, Pick<Measure, 'must' | 'better'>>> = {
  'Feathers + knex': { must: { atLeast: 4.5 }, better: { atLeast: 10 } },
  Directus: { must: { atLeast: 45 }, better: { atLeast: 100 } },
}

/** How a caller identifies itself, by the name of the contestant. */
const CALLERS = { headers: 'identified by headers', token: 'identified by a token' } as const

function measuresOf(rounds: readonly Round[]): Measure[] {
  const forEachCaller = (measure: (name: 'headers' | 'token') => Measure) => [
    measure('headers'),
    measure('token'),
  ]
  return [
    ...forEachCaller((name) => ({
      what: `rate, ${CALLERS[name]} ÷ bare durable server`,
      values: ratio(rounds, name, 'durable', rateOf),
      ...RATE,
    })),
    ...forEachCaller((name) => ({
      what: `p99, ${CALLERS[name]} ÷ bare durable server`,
      values: ratio(rounds, name, 'durable', p99Of),
      ...P99,
    })),
    ...forEachCaller((name) => ({
      what: `rate, ${CALLERS[name]} ÷ echo`,
      values: ratio(rounds, name, 'echo', rateOf),
    })),
  ]
}

function peerMeasures(rounds: readonly Round[], name: string): Measure[] {
  return [
    {
      what: `rate, ${CALLERS.headers} ÷ ${name}`,
      values: ratio(rounds, 'headers', name, rateOf),
      ...TO_PEER[name],
    },
    { what: name, unit: 'requests/s', values: figures(rounds, name, rateOf) },
  ]
}

function absoluteFigures(rounds: readonly Round[]): Measure[] {
  return [
    { what: 'platform', unit: 'requests/s', values: figures(rounds, 'headers', rateOf) },
    { what: 'bare durable server', unit: 'requests/s', values: figures(rounds, 'durable', rateOf) },
    { what: 'echo', unit: 'requests/s', values: figures(rounds, 'echo', rateOf) },
    { what: 'platform, p99', unit: 'ms', values: figures(rounds, 'headers', p99Of) },
    { what: 'bare durable server, p99', unit: 'ms', values: figures(rounds, 'durable', p99Of) },
    {
      what: 'load generator at echo',
      unit: 'share of a core',
      values: figures(rounds, 'echo', (slice) => slice.generatorBusy),
    },
  ]
}
