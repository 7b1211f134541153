import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPeer } from '../support/peers.ts'
import { freePort } from '../../test/support/loopback.ts'
import { diskDirectory, startServer } from '../support/servers.ts'

const SERVER = fileURLToPath(new URL('./feathers-server.ts', import.meta.url))
const PACKAGES = [
  '@feathersjs/feathers@5.0.50',
  '@feathersjs/koa@5.0.50',
  '@feathersjs/knex@5.0.50',
  '@feathersjs/schema@5.0.50',
  '@feathersjs/typebox@5.0.50',
  'knex@3.3.0',
] as const

/** Feathers and knex on a new SQLite database; answers the port. */
export async function startFeathers(stack: AsyncDisposableStack): Promise<number> {
  const directory = await installPeer(PACKAGES)
  const { path: cwd } = stack.use(diskDirectory())
  const port = await freePort()
  const command = [process.execPath, SERVER, String(port), directory, join(cwd, 'orders.db')]
  stack.use(await startServer({ command, port, cwd, env: { NODE_ENV: 'production' } }))
  return port
}
