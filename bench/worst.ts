import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
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
    const gateway = stack.use(await startGateway(await startGatewayApi(stack), 'worst'))
    const api = { port, pid: server.pid }
    const edge = { port: gateway.target.port, pid: gateway.pid }
    const contestants = [
      contestant('nobody', { ...api, generator }, undefined),
      ...ATTACKS.map((attack) => contestant(`api, ${attack.name}`, { ...api, generator }, attack)),
      ...ATTACKS.map((attack) => contestant(`gateway, ${attack.name}`, edge, attack)),
    ]
    return measuresOf(await interleave(contestants, options))
  },
}

interface Attack {
  readonly name: string
  readonly connections: number
  /** What a connection sends, again and again. */
  readonly bytes: string
  readonly reads: boolean
}

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

/** Sends for as long as the signal allows; a connection that was closed is opened again. */
async function attackUntil(
  port: number,
  { connections, bytes, reads }: Attack,
  signal: AbortSignal,
): Promise<void> {
  const one = async () => {
    while (!signal.aborted) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined)
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      const end = () => socket.destroy()
      signal.addEventListener('abort', end, { once: true })
      if (reads) socket.resume()
      else socket.pause()
      // The next bytes when these were taken.
      const send = (): void => void (socket.writable && socket.write(bytes, () => setImmediate(send)))
      if (bytes.endsWith('[')) socket.write(bytes)
      else send()
      await closed
      signal.removeEventListener('abort', end)
      await pause(1)
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
}

interface Sample {
  readonly orders: number
  readonly liveP99: number
  readonly grownMegabytes: number
}

interface Target {
  readonly port: number
  readonly pid: number
  /** Orders are created meanwhile; left out at a gateway. */
  readonly generator?: LoadGenerator
}

function contestant(name: string, target: Target, attack: Attack | undefined): Contestant<Sample> {
  const { port, pid, generator } = target
  let idle: number | undefined
  return {
    name,
    async run(forMs) {
      idle ??= residentMegabytes(pid)
      const over = new AbortController()
      const attacking = attack && attackUntil(port, attack, over.signal)
      const probing = probe(port, pid, over.signal)
      const load = generator?.apply(postOrders(port), forMs)
      const orders = load ? rateOf(requireSuccess(name, await load)) : (await pause(forMs), 0)
      over.abort()
      await attacking
      const { delays, peak } = await probing
      return { orders, liveP99: percentile(delays, 0.99), grownMegabytes: peak - idle }
    },
  }
}

const PROBE_EVERY_MS = 10

/** How long a probe of a supervisor waits, on a connection of its own. */
async function probe(port: number, pid: number, signal: AbortSignal) {
  const delays: number[] = []
  let peak = 0
  do {
    const begin = performance.now()
    await (await fetch(`http://127.0.0.1:${port}/health/live`, { headers: { connection: 'close' } })).text()
    delays.push(performance.now() - begin)
    peak = Math.max(peak, residentMegabytes(pid))
    await pause(PROBE_EVERY_MS)
  } while (!signal.aborted)
  return { delays, peak }
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
  const places = ['api', 'gateway'].flatMap((place) => ATTACKS.map(({ name }) => `${place}, ${name}`))
  return [
    ...places.map((name) => ({
      what: `GET /health/live, p99: ${name}`,
      unit: 'ms',
      values: figures(rounds, name, ({ liveP99 }) => liveP99),
      ...LIVE,
    })),
    ...ATTACKS.map(({ name }) => ({
      what: `POST /orders ÷ without: ${name}`,
      values: ratio(rounds, `api, ${name}`, 'nobody', ({ orders }) => orders),
      ...ORDERS,
    })),
    ...places.map((name) => ({
      what: `resident memory more than before: ${name}`,
      unit: 'MB',
      values: figures(rounds, name, ({ grownMegabytes }) => grownMegabytes),
      ...GROWTH,
    })),
    {
      what: 'GET /health/live, p99, nobody else',
      unit: 'ms',
      values: figures(rounds, 'nobody', ({ liveP99 }) => liveP99),
    },
  ]
}
