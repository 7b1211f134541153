import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Bench } from './support/bench.ts'
import { startGateway, startGatewayApi } from './support/gateway-server.ts'
import { requireSuccess, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator, type LoadGenerator } from './support/load-generator.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { postOrders } from './support/order-load.ts'
import { startPlatform } from './support/platform-server.ts'
import { residentMegabytes } from './support/resident.ts'
import { interleave, type Contestant, type Round } from './support/rounds.ts'
import { diskDirectory } from './support/servers.ts'
import type { Attack } from './support/stranger-worker.ts'
import { freePort } from '../test/support/loopback.ts'

/** What one client without a token costs the others. */
export const worst: Bench = {
  name: 'worst',
  title: 'P22: one anonymous client at its worst',
  summary: 'what pipelining, large bodies, unread answers and slow bodies of one stranger cost the others',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const generator = stack.use(startLoadGenerator())
    const { path: dataDir } = stack.use(diskDirectory())
    const port = await freePort()
    const server = stack.use(await startPlatform({ dataDir, port }))
    const gatewayApi = await startGatewayApi(stack)
    const gateway = stack.use(await startGateway(gatewayApi, 'worst'))
    const targets = {
      api: { port, pid: server.pid, ordersPort: port, generator },
      gateway: { port: gateway.target.port, pid: gateway.pid, ordersPort: gatewayApi.port, generator },
    }
    const contestants: Contestant<Sample>[] = []
    for (const [place, target] of Object.entries(targets)) {
      // The same load without a stranger takes memory, too.
      await generator.apply(postOrders(target.ordersPort), options.sliceMs * SLICES_BEFORE)
      const before = residentMegabytes(target.pid)
      for (const attack of [undefined, ...ATTACKS])
        contestants.push(contestant(`${place}, ${attack?.name ?? NOBODY}`, { ...target, before }, attack))
    }
    return measuresOf(await interleave(contestants, options))
  },
}

const STRANGER = new URL('./support/stranger-worker.ts', import.meta.url)

const MEBIBYTE = 1_048_576
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
const post = (length: number, body: string) =>
  `POST /auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`
const ones = (length: number) => `[${'1,'.repeat((length - 20) / 2)}12345678901234567]`

const ATTACKS: readonly Attack[] = [
  { name: 'pipelining', connections: 6, bytes: get('/metrics').repeat(4_000), reads: true },
  {
    name: 'large bodies',
    connections: 6,
    bytes: post(MEBIBYTE, ones(MEBIBYTE).padEnd(MEBIBYTE)),
    reads: true,
  },
  { name: 'unread answers', connections: 64, bytes: get('/metrics').repeat(100), reads: false },
  { name: 'slow bodies', connections: 256, bytes: post(16_000, '['), reads: true },
]

const NOBODY = 'nobody'
const SLICES_BEFORE = 3

interface Sample {
  readonly orders: number
  readonly liveP99: number
  /** After the attack, more than under the same load before the first one. */
  readonly grownMegabytes: number
}

interface Target {
  readonly port: number
  readonly pid: number
  /** Port of the api that creates orders meanwhile; that of a gateway is behind it. */
  readonly ordersPort: number
  readonly generator: LoadGenerator
  /** Resident after the load without an attack, in megabytes. */
  readonly before: number
}

function contestant(name: string, target: Target, attack: Attack | undefined): Contestant<Sample> {
  const { port, pid, ordersPort, generator, before } = target
  return {
    name,
    async run(forMs) {
      const over = new AbortController()
      // In a thread of its own: a probe must not wait for what the stranger does.
      const stranger = attack && new Worker(STRANGER, { workerData: { ...attack, port } })
      const probing = probe(port, over.signal)
      const load = await generator.apply(postOrders(ordersPort), forMs)
      over.abort()
      await stranger?.terminate()
      const liveP99 = percentile(await probing, 0.99)
      const orders = rateOf(requireSuccess(name, load))
      return { orders, liveP99, grownMegabytes: residentMegabytes(pid) - before }
    },
  }
}

const PROBE_EVERY_MS = 10

/** How long a probe of a supervisor waits, on a connection of its own. */
async function probe(port: number, signal: AbortSignal): Promise<number[]> {
  const delays: number[] = []
  do {
    const begin = performance.now()
    await (await fetch(`http://127.0.0.1:${port}/health/live`, { headers: { connection: 'close' } })).text()
    delays.push(performance.now() - begin)
    await pause(PROBE_EVERY_MS)
  } while (!signal.aborted)
  return delays
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.ceil(share * sorted.length) - 1] as number
}

// docs/performance.md, P22: one anonymous client
const LIVE = { must: { atMost: 50 } }
const ORDERS = { must: { atLeast: 0.7 } }
const GROWTH = { must: { atMost: 150 } }

function measuresOf(rounds: readonly Round<Sample>[]): Measure[] {
  const attacked = ['api', 'gateway'].flatMap((place) =>
    ATTACKS.map(({ name }) => ({ place, name: `${place}, ${name}` })),
  )
  return [
    ...attacked.map(({ name }) => ({
      what: `GET /health/live, p99: ${name}`,
      unit: 'ms',
      values: figures(rounds, name, ({ liveP99 }) => liveP99),
      ...LIVE,
    })),
    ...attacked.map(({ place, name }) => ({
      what: `POST /orders at the api ÷ without: ${name}`,
      values: ratio(rounds, name, `${place}, ${NOBODY}`, ({ orders }) => orders),
      ...ORDERS,
    })),
    ...attacked.map(({ name }) => ({
      what: `resident memory afterwards, more than without: ${name}`,
      unit: 'MB',
      values: figures(rounds, name, ({ grownMegabytes }) => grownMegabytes),
      ...GROWTH,
    })),
    ...['api', 'gateway'].map((place) => ({
      what: `GET /health/live, p99, nobody else: ${place}`,
      unit: 'ms',
      values: figures(rounds, `${place}, ${NOBODY}`, ({ liveP99 }) => liveP99),
    })),
  ]
}
