import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import type { SocketTarget } from './client-socket.ts'
import { createMemoryProbe } from './collected.ts'
import { startGateway, untilSessions, type GatewayApi } from './gateway-server.ts'
import { processorSeconds, untilQuiet } from './processor.ts'
import { freePort } from '../../test/support/loopback.ts'
import { startServer, type RunningServer } from './servers.ts'
import { startSocketClients, type SocketClients } from './socket-clients.ts'

const BARE = fileURLToPath(new URL('../servers/bare-ws.ts', import.meta.url))

/** A server of WebSockets and how to reach it. */
export interface SocketServer extends RunningServer {
  readonly target: SocketTarget
}

interface BareWsOptions {
  readonly verify?: boolean
  readonly env?: Readonly<Record<string, string>>
}

/** `ws` alone; with `verify` it checks a token first. */
export async function startBareWs({ verify = false, env = {} }: BareWsOptions = {}): Promise<SocketServer> {
  const port = await freePort()
  const command = [process.execPath, BARE, String(port), String(HEARTBEAT_MS), verify ? 'verify' : 'trust']
  const server = await startServer({ command, port, cwd: '/', env })
  return { ...server, target: { port, path: '/', openedBy: '{"type":"session"' } }
}

export interface IdleSizes {
  readonly few: number
  readonly many: number
  /** How long the processor time is taken; in an interval of the heartbeat each session beats once. */
  readonly watchMs: number
}

/** The default. */
export const HEARTBEAT_MS = 30_000

/** What idle sessions cost a server. */
export interface IdleCost {
  /** Memory for each session. */
  readonly kibibytes: number
  /** Percent of one core, for all sessions. */
  readonly percent: number
}

/** `none`, a gateway without sessions, shows the processor time that sessions do not cause. */
export type IdleRound = Readonly<Record<'bare' | 'few' | 'many', IdleCost>> & {
  readonly none: Pick<IdleCost, 'percent'>
}

/**
 * Servers that were just started, with idle sessions: memory before and after they came, without what waits to be
 * collected, and then the processor time that they take. `none` is a gateway without sessions.
 */
export async function measureIdle(
  api: GatewayApi,
  none: RunningServer,
  { few, many, watchMs }: IdleSizes,
): Promise<IdleRound> {
  await using stack = new AsyncDisposableStack()
  const clients = stack.use(startSocketClients())
  const gatewayWith = (name: string, count: number) =>
    idleServer(stack, count, (env) => startGateway(api, name, env))
  const servers = [
    await idleServer(stack, many, (env) => startBareWs({ env })),
    await gatewayWith('few', few),
    await gatewayWith('many', many),
  ]
  await warmUp(clients, servers)
  await untilSessions(api, 0)
  const kibibytes: number[] = []
  for (const server of servers) kibibytes.push(await memoryOfSessions(clients, server))
  const percents = await processorPercents([...servers, none], watchMs)
  await clients.drop(many + few + many)
  await untilSessions(api, 0)
  const cost = (at: number) => ({ kibibytes: kibibytes[at] ?? NaN, percent: percents[at] ?? NaN })
  return { bare: cost(0), few: cost(1), many: cost(2), none: cost(3) }
}

interface IdleServer extends SocketServer {
  readonly count: number
  residentKibibytes(): Promise<number>
}

async function idleServer(
  stack: AsyncDisposableStack,
  count: number,
  start: (env: Readonly<Record<string, string>>) => Promise<SocketServer>,
): Promise<IdleServer> {
  const probe = await createMemoryProbe()
  const server = stack.use(await start(probe.env))
  return { ...server, count, residentKibibytes: () => probe.residentKibibytes(server.pid) }
}

// What is compiled and opened for the first sessions is no cost of the counted ones. Not more of them: the counted
// sessions would reuse the memory that they leave behind.
const WARM_UP_COUNT = 64

async function warmUp(clients: SocketClients, servers: readonly IdleServer[]): Promise<void> {
  for (const { target, count } of servers) await clients.hold(target, Math.min(count, WARM_UP_COUNT))
  await clients.drop(0)
}

async function memoryOfSessions(clients: SocketClients, server: IdleServer): Promise<number> {
  const { pid, target, count } = server
  await untilQuiet(pid)
  const before = await server.residentKibibytes()
  await clients.hold(target, count)
  await untilQuiet(pid)
  return ((await server.residentKibibytes()) - before) / count
}

async function processorPercents(servers: readonly RunningServer[], forMs: number): Promise<number[]> {
  const before = servers.map(({ pid }) => processorSeconds(pid))
  await pause(forMs)
  return servers.map(({ pid }, at) => ((processorSeconds(pid) - (before[at] ?? NaN)) / (forMs / 1_000)) * 100)
}
