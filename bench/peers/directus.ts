import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { installPeer } from '../support/peers.ts'
import { startDurablePostgres } from '../support/postgres-server.ts'
import { freePort } from '../../test/support/loopback.ts'
import { diskDirectory, startServer, type RunningServer } from '../support/servers.ts'

const PACKAGES = ['directus@12.4.0'] as const
const HOOKS = fileURLToPath(new URL('./without-isolated-vm.mjs', import.meta.url))
const TOKEN = 'bench-token'

/** What a caller sends. */
export const DIRECTUS_HEADERS = { authorization: `Bearer ${TOKEN}` }

const COLLECTION = {
  collection: 'orders',
  schema: {},
  meta: {},
  fields: [
    { field: 'order_id', type: 'string', schema: { is_primary_key: true } },
    { field: 'platform', type: 'string' },
    { field: 'amount_cents', type: 'integer' },
  ],
}

/** Directus on a PostgreSQL of its own, with a collection `orders` that is reached at `/items/orders`. */
export async function startDirectus(
  stack: AsyncDisposableStack,
): Promise<RunningServer & { readonly port: number }> {
  const directory = await installPeer(PACKAGES)
  const program = [process.execPath, join(directory, 'node_modules/directus/cli.js')] as const
  const { path: cwd } = stack.use(diskDirectory())
  const port = await freePort()
  const env = settings(await startDurablePostgres(stack), port)
  await promisify(execFile)(program[0], [program[1], 'bootstrap'], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, ...env },
  })
  const server = stack.use(await startServer({ command: [...program, 'start'], port, cwd, env }))
  await makeCollection(port)
  return { ...server, port }
}

function settings(databaseUrl: string, port: number): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${HOOKS}`,
    NODE_ENV: 'production',
    DB_CLIENT: 'pg',
    DB_CONNECTION_STRING: databaseUrl,
    SECRET: '0123456789abcdef0123456789abcdef',
    ADMIN_EMAIL: 'bench@example.com',
    ADMIN_PASSWORD: 'bench-password-1',
    ADMIN_TOKEN: TOKEN,
    TELEMETRY: 'false',
    // It would refuse calls as soon as it is slow.
    PRESSURE_LIMITER_ENABLED: 'false',
    LOG_LEVEL: 'error',
    HOST: '127.0.0.1',
    PORT: String(port),
  }
}

async function makeCollection(port: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/collections`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close', ...DIRECTUS_HEADERS },
    body: JSON.stringify(COLLECTION),
  })
  if (!answer.ok) throw new Error(`Directus made no collection: ${answer.status} ${await answer.text()}`)
}
