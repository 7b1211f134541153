import { fileURLToPath } from 'node:url'
import { migrateDatabase, sqliteIn } from './database.ts'
import { startServer, type RunningServer } from './servers.ts'

const ACCEPT = fileURLToPath(new URL('../servers/durable-accept.ts', import.meta.url))
const ORDERS = fileURLToPath(new URL('../servers/durable-orders.ts', import.meta.url))

export interface DurableServerOptions {
  /** Where its database is made, with the schema of the platform. */
  readonly dataDir: string
  readonly port: number
  readonly env?: Readonly<Record<string, string>>
  /** A command that starts the server in its turn. */
  readonly under?: readonly string[]
}

/** The bare durable server for orders. */
export function startDurableOrders(options: DurableServerOptions): Promise<RunningServer> {
  return startDurable(ORDERS, options)
}

/** The bare durable server for sessions. */
export function startDurableAccept(options: DurableServerOptions): Promise<RunningServer> {
  return startDurable(ACCEPT, options)
}

async function startDurable(
  program: string,
  { dataDir, port, env = {}, under = [] }: DurableServerOptions,
): Promise<RunningServer> {
  const database = sqliteIn(dataDir)
  await migrateDatabase(database)
  const command = [...under, process.execPath, program, String(port), database.path]
  return startServer({ command, port, cwd: dataDir, env })
}
