import { fileURLToPath } from 'node:url'
import type { Bench } from './support/bench.ts'
import { userId, type SocketTarget } from './support/client-socket.ts'
import { startDurableAccept } from './support/durable-servers.ts'
import { startGateway, startGatewayApi, untilSessions, type GatewayApi } from './support/gateway-server.ts'
import {
  HEARTBEAT_MS,
  measureIdle,
  startBareWs,
  type IdleCost,
  type IdleRound,
  type IdleSizes,
  type SocketServer,
} from './support/idle-sessions.ts'
import { loadContestants, p99Of, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator } from './support/load-generator.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { installPeer } from './support/peers.ts'
import { untilQuiet } from './support/processor.ts'
import { interleave, type Contestant, type Round, type RoundOptions } from './support/rounds.ts'
import { freePort } from '../test/support/loopback.ts'
import { diskDirectory, startServer } from './support/servers.ts'
import { startSocketClients, type SocketClients } from './support/socket-clients.ts'
import { spreadOf } from './support/statistics.ts'
import { signToken } from './support/tokens.ts'

const SOCKET_IO = fileURLToPath(new URL('./servers/socket-io.ts', import.meta.url))
const SOCKET_IO_PACKAGE = 'socket.io@4.8.4'

const SIZES: Readonly<Record<'full' | 'small', IdleSizes>> = {
  full: { few: 1_000, many: 5_000, watchMs: HEARTBEAT_MS },
  small: { few: 5, many: 10, watchMs: 100 },
}

/** Sessions over WebSocket: opening them, keeping them, and requests through them, against `ws` and SQLite alone. */
export const gateway: Bench = {
  name: 'gateway',
  title: 'P7: sessions at the gateway',
  summary:
    'accepts, memory and heartbeats of 5,000 sessions, and requests, against bare ws with and without SQLite, and socket.io',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const sizes = options.small ? SIZES.small : SIZES.full
    const api = await startGatewayApi(stack)
    const ours = stack.use(await startGateway(api, 'ours'))
    const idle = await idleRounds(() => measureIdle(api, ours, sizes), options)
    const peer = options.small ? undefined : await startPeer(stack, options)
    const rounds = await interleave(await startContestants(stack, { api, ours, peer }, sizes), options)
    return [
      ...judgedMeasures(rounds, idle, sizes, peer !== undefined),
      ...growthMeasures(rounds, idle, sizes),
      ...informingMeasures(rounds),
      ...absoluteFigures(rounds, idle, sizes, peer !== undefined),
    ]
  },
}

async function idleRounds(measure: () => Promise<IdleRound>, options: RoundOptions): Promise<IdleRound[]> {
  const done: IdleRound[] = []
  for (let number = 1; number <= options.rounds; number++) {
    options.signal.throwIfAborted()
    options.onSlice(`round ${number} of ${options.rounds}: idle sessions`)
    done.push(await measure())
  }
  return done
}

/** Undefined where it cannot be installed. */
async function startPeer(
  stack: AsyncDisposableStack,
  { onSlice, note }: RoundOptions,
): Promise<SocketServer | undefined> {
  onSlice('installing and starting socket.io')
  try {
    const directory = await installPeer([SOCKET_IO_PACKAGE])
    const port = await freePort()
    const command = [process.execPath, SOCKET_IO, String(port), directory]
    const server = stack.use(await startServer({ command, port, cwd: directory }))
    const path = '/socket.io/?EIO=4&transport=websocket'
    return { ...server, target: { port, path, openedBy: '40', replies: [{ to: '0{', text: '40' }] } }
  } catch (error) {
    note(`socket.io could not be measured: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

interface Servers {
  readonly api: GatewayApi
  readonly ours: SocketServer
  readonly peer: SocketServer | undefined
}

const REQUEST = JSON.stringify({ type: 'request', id: 1, method: 'GET', path: '/auth/me' })

async function startContestants(
  stack: AsyncDisposableStack,
  { api, ours, peer }: Servers,
  { many }: IdleSizes,
): Promise<Contestant[]> {
  const clients = stack.use(startSocketClients())
  const bare = stack.use(await startBareWs())
  const verifying = stack.use(await startBareWs({ verify: true }))
  const durable = await startDurable(stack)
  const full = stack.use(await startGateway(api, 'full'))
  const holders = stack.use(startSocketClients())
  await holders.hold(full.target, many)
  const untilClosed = () => untilSessions(api, many)
  const ask = (target: SocketTarget, answeredBy: string) => (forMs: number) =>
    clients.ask(target, { text: REQUEST, answeredBy }, forMs)
  return [
    accepting(clients, 'bare', bare),
    accepting(clients, 'verifying', verifying),
    accepting(clients, 'durable', durable),
    accepting(clients, 'ours', ours, untilClosed),
    accepting(clients, 'full', full, untilClosed),
    ...(peer ? [accepting(clients, 'socket.io', peer)] : []),
    { name: 'echo', run: ask(bare.target, '"type":"request"') },
    { name: 'frames', run: ask(ours.target, '"status":200') },
    ...askingApi(stack, api),
  ]
}

/** The bare durable accept, on a new database with the schema of the platform. */
async function startDurable(stack: AsyncDisposableStack): Promise<SocketServer> {
  const port = await freePort()
  const server = stack.use(await startDurableAccept({ dataDir: stack.use(diskDirectory()).path, port }))
  return { ...server, target: { port, path: '/', openedBy: '{"type":"session"' } }
}

/** The same request over HTTP, straight to the api. */
function askingApi(stack: AsyncDisposableStack, { port }: GatewayApi): Contestant[] {
  const headers = { authorization: `Bearer ${signToken(userId(0))}` }
  const api = { port, connections: 64, method: 'GET', path: '/auth/me', headers }
  return loadContestants(stack.use(startLoadGenerator()), { api })
}

function accepting(
  clients: SocketClients,
  name: string,
  { pid, target }: SocketServer,
  untilClosed = async () => {},
): Contestant {
  return {
    name,
    async run(forMs) {
      const slice = await clients.open(target, forMs)
      await untilClosed()
      await untilQuiet(pid)
      return slice
    },
  }
}

// docs/performance.md, P7: sessions at the gateway
const TO_DURABLE = { must: { atLeast: 0.42 }, better: { atLeast: 0.85 } }
const TO_PEER = { must: { atLeast: 0.65 }, better: { atLeast: 1 } }
const TO_API = { must: { atLeast: 0.5 }, better: { atLeast: 0.7 } }
const MEMORY = { must: { atMost: 12 } }
const HEARTBEATS = { must: { atMost: 3 } }

function judgedMeasures(
  rounds: readonly Round[],
  idle: readonly IdleRound[],
  { many }: IdleSizes,
  hasPeer: boolean,
): Measure[] {
  const sessions = many.toLocaleString('en')
  const above = idle.map((each) => each.many.kibibytes - each.bare.kibibytes)
  return [
    {
      what: 'accepts ÷ bare durable accept',
      values: ratio(rounds, 'ours', 'durable', rateOf),
      ...TO_DURABLE,
    },
    ...(hasPeer
      ? [{ what: 'accepts ÷ socket.io', values: ratio(rounds, 'ours', 'socket.io', rateOf), ...TO_PEER }]
      : []),
    {
      what: 'requests ÷ the same straight to the api',
      values: ratio(rounds, 'frames', 'api', rateOf),
      ...TO_API,
    },
    {
      what: `memory of one session of ${sessions}, above that of bare ws`,
      unit: 'KiB',
      values: spreadOf(above),
      ...MEMORY,
    },
    {
      what: `heartbeats of ${sessions} sessions`,
      unit: '% of a core',
      values: spreadOf(idle.map((round) => heartbeatPercent(round, 'many'))),
      ...HEARTBEATS,
    },
  ]
}

function growthMeasures(
  rounds: readonly Round[],
  idle: readonly IdleRound[],
  { few, many }: IdleSizes,
): Measure[] {
  const [less, more] = [few, many].map((count) => count.toLocaleString('en'))
  return [
    { what: `accepts, beside ${more} sessions ÷ beside none`, values: ratio(rounds, 'full', 'ours', rateOf) },
    {
      what: `heartbeats of ${less} sessions`,
      unit: '% of a core',
      values: spreadOf(idle.map((round) => heartbeatPercent(round, 'few'))),
    },
    {
      what: `gateway, one of ${less} sessions`,
      unit: 'KiB',
      values: idleFigures(idle, 'few', 'kibibytes'),
    },
  ]
}

function informingMeasures(rounds: readonly Round[]): Measure[] {
  return [
    {
      what: 'accepts ÷ bare ws that verifies the token',
      values: ratio(rounds, 'ours', 'verifying', rateOf),
    },
    { what: 'requests ÷ frames of bare ws echo', values: ratio(rounds, 'frames', 'echo', rateOf) },
  ]
}

const RATES = [
  { name: 'ours', what: 'gateway, accepts', unit: 'accepts/s' },
  { name: 'durable', what: 'bare durable accept', unit: 'accepts/s' },
  { name: 'verifying', what: 'bare ws that verifies the token', unit: 'accepts/s' },
  { name: 'bare', what: 'bare ws', unit: 'accepts/s' },
  { name: 'socket.io', what: 'socket.io', unit: 'accepts/s' },
  { name: 'frames', what: 'gateway, requests', unit: 'requests/s' },
  { name: 'echo', what: 'bare ws echo', unit: 'requests/s' },
  { name: 'api', what: 'straight to the api', unit: 'requests/s' },
] as const

function absoluteFigures(
  rounds: readonly Round[],
  idle: readonly IdleRound[],
  { many }: IdleSizes,
  hasPeer: boolean,
): Measure[] {
  const sessions = many.toLocaleString('en')
  return [
    ...RATES.filter(({ name }) => hasPeer || name !== 'socket.io').map(({ name, what, unit }) => ({
      what,
      unit,
      values: figures(rounds, name, rateOf),
    })),
    { what: 'bare durable accept, p99', unit: 'ms', values: figures(rounds, 'durable', p99Of) },
    { what: 'gateway, accept p99', unit: 'ms', values: figures(rounds, 'ours', p99Of) },
    { what: 'gateway, request p99', unit: 'ms', values: figures(rounds, 'frames', p99Of) },
    {
      what: `gateway, one of ${sessions} sessions`,
      unit: 'KiB',
      values: idleFigures(idle, 'many', 'kibibytes'),
    },
    {
      what: `bare ws, one of ${sessions} connections`,
      unit: 'KiB',
      values: idleFigures(idle, 'bare', 'kibibytes'),
    },
    {
      what: `bare ws, pings of ${sessions} connections`,
      unit: '% of a core',
      values: idleFigures(idle, 'bare', 'percent'),
    },
    {
      what: `gateway, all of the process with ${sessions} sessions`,
      unit: '% of a core',
      values: idleFigures(idle, 'many', 'percent'),
    },
    {
      what: 'load generator at bare ws that verifies, share of a core',
      values: figures(rounds, 'verifying', ({ generatorBusy }) => generatorBusy),
    },
  ]
}

/** What the sessions add to a gateway that has none. */
function heartbeatPercent({ none, ...round }: IdleRound, of: 'few' | 'many'): number {
  return round[of].percent - none.percent
}

function idleFigures(idle: readonly IdleRound[], of: 'bare' | 'few' | 'many', figure: keyof IdleCost) {
  return spreadOf(idle.map((round) => round[of][figure]))
}
