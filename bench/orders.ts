import { fileURLToPath } from 'node:url'
import { DIRECTUS_HEADERS, startDirectus } from './peers/directus.ts'
import { startFeathers } from './peers/feathers.ts'
import type { Bench } from './support/bench.ts'
import { loadContestants, p99Of, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator } from './support/load-generator.ts'
import type { LoadTarget } from './support/load.ts'
import { figures, ratio, type Bound, type Measure } from './support/measure.ts'
import { postOrders } from './support/order-load.ts'
import { issueToken, startPlatform } from './support/platform-server.ts'
import { interleave, type Round, type RoundOptions } from './support/rounds.ts'
import { seedOrders } from './support/seed.ts'
import { diskDirectory, freePort, startServer } from './support/servers.ts'

const ECHO = fileURLToPath(new URL('./servers/echo.ts', import.meta.url))
const MANY = { full: 1_000_000, small: 1_000 }

/** Durable `POST /orders` through everything, against a bare server that parses and answers JSON, and peers. */
export const orders: Bench = {
  name: 'orders',
  title: 'P1: durable POST /orders',
  summary: 'durable POST /orders through everything, against a bare JSON echo, Feathers and Directus',

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
  const [echoPort, port, fullPort] = [await freePort(), await freePort(), await freePort()]
  const { path: dataDir } = stack.use(diskDirectory())
  const { path: fullDir } = stack.use(diskDirectory())
  await seedOrders(fullDir, { orders: many, events: true }, options)
  const command = [process.execPath, ECHO, String(echoPort)]
  stack.use(await startServer({ command, port: echoPort, cwd: dataDir }))
  stack.use(await startPlatform({ dataDir, port }))
  stack.use(await startPlatform({ dataDir: fullDir, port: fullPort }))
  const token = await issueToken(dataDir)
  return {
    echo: postOrders(echoPort),
    headers: postOrders(port),
    token: postOrders(port, { authorization: `Bearer ${token}` }),
    many: postOrders(fullPort),
  }
}

/** How each peer is started, and how an order is made there. */
const PEERS: Readonly<Record<string, (stack: AsyncDisposableStack) => Promise<LoadTarget>>> = {
  'Feathers + knex': async (stack) => postOrders(await startFeathers(stack), {}),
  Directus: async (stack) => postOrders((await startDirectus(stack)).port, DIRECTUS_HEADERS, '/items/orders'),
}

/** Those that can be had here. */
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

// docs/performance.md, P1
const RATE = { must: { atLeast: 0.55 }, better: { atLeast: 0.7 } }
const P99 = { must: { atMost: 3 } }
const TO_PEER: Readonly<Record<string, Bound>> = {
  'Feathers + knex': { atLeast: 8 },
  Directus: { atLeast: 100 },
}

function measuresOf(rounds: readonly Round[]): Measure[] {
  return [
    { what: 'rate, known by headers ÷ echo', values: ratio(rounds, 'headers', 'echo', rateOf), ...RATE },
    { what: 'rate, known by a token ÷ echo', values: ratio(rounds, 'token', 'echo', rateOf), ...RATE },
    { what: 'p99, known by headers ÷ echo', values: ratio(rounds, 'headers', 'echo', p99Of), ...P99 },
    { what: 'p99, known by a token ÷ echo', values: ratio(rounds, 'token', 'echo', p99Of), ...P99 },
  ]
}

function peerMeasures(rounds: readonly Round[], name: string): Measure[] {
  return [
    {
      what: `rate, known by headers ÷ ${name}`,
      values: ratio(rounds, 'headers', name, rateOf),
      ...(TO_PEER[name] && { must: TO_PEER[name] }),
    },
    { what: name, unit: 'requests/s', values: figures(rounds, name, rateOf) },
  ]
}

function absoluteFigures(rounds: readonly Round[]): Measure[] {
  return [
    { what: 'platform', unit: 'requests/s', values: figures(rounds, 'headers', rateOf) },
    { what: 'echo', unit: 'requests/s', values: figures(rounds, 'echo', rateOf) },
    { what: 'platform, p99', unit: 'ms', values: figures(rounds, 'headers', p99Of) },
    {
      what: 'load generator at echo',
      unit: 'share of a core',
      values: figures(rounds, 'echo', (slice) => slice.generatorBusy),
    },
  ]
}
