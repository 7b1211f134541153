import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { userId, USERS, type SocketTarget } from './client-socket.ts'
import { openDatabase } from './database.ts'
import { startPlatform } from './platform-server.ts'
import { freePort } from '../../test/support/loopback.ts'
import { diskDirectory, type RunningServer } from './servers.ts'
import { JWT_SECRET } from './tokens.ts'

/** The api that gateways pass requests to, on the database that they share. */
export interface GatewayApi {
  readonly port: number
  readonly dataDir: string
  readonly database: DatabaseSync
}

/** With a user for each connection at a time. */
export async function startGatewayApi(stack: AsyncDisposableStack): Promise<GatewayApi> {
  const { path: dataDir } = stack.use(diskDirectory())
  const port = await freePort()
  stack.use(await startPlatform({ dataDir, port, env: { JWT_SECRET } }))
  const database = stack.use(openDatabase(dataDir))
  const insert = database.prepare(USER)
  database.exec('begin')
  for (let number = 0; number < USERS; number++) insert.run({ id: userId(number) })
  database.exec('commit')
  return { port, dataDir, database }
}

const USER = `
  insert into users (id, name, name_key, password_hash, roles, enabled, token_generation, tokens_valid_from,
    created_at, updated_at)
  values (:id, :id, :id, '', 'service', 1, 1, 0, 0, 0)`

export interface Gateway extends RunningServer {
  readonly target: SocketTarget
}

/** A gateway in a process of its own. */
export async function startGateway(
  { port: apiPort, dataDir }: GatewayApi,
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Gateway> {
  const port = await freePort()
  const settings = {
    JWT_SECRET,
    GATEWAY_NAME: name,
    GATEWAY_API_URL: `http://127.0.0.1:${apiPort}`,
    VPN_IP_POOL: '100.64.0.0/12',
    // Counted for each connection as ever, and never reached.
    VPN_CONNECTION_RATE: '1000000',
    VPN_CONNECTION_BURST: '1000000',
  }
  const server = await startPlatform({ dataDir, port, modules: 'gateway', env: { ...settings, ...env } })
  return { ...server, target: { port, path: '/vpn', openedBy: '{"type":"session"' } }
}

const LOOK_EVERY_MS = 50

/** Waits until no more than so many sessions are open, by what all gateways have written down. */
export async function untilSessions({ database }: GatewayApi, count: number): Promise<void> {
  const open = database.prepare('select count(*) as open from vpn_sessions where closed_at is null')
  while (Number(open.get()?.['open']) > count) await pause(LOOK_EVERY_MS)
}
