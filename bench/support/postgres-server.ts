import { Client } from 'pg'
import { Secret } from '../../src/kernel/secret.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { migrateDatabase } from './database.ts'
import { parentOf } from './processor.ts'

/** A PostgreSQL server with its own defaults, by which a commit is on disk; answers the address of its database. */
export async function startDurablePostgres(stack: AsyncDisposableStack): Promise<string> {
  const { url, stop } = await startPostgres({ durable: true })
  stack.defer(stop)
  return url
}

/** A database of that name with the platform's schema; answers its address. */
export async function makeDatabase(server: string, name: string): Promise<string> {
  await inDatabase(server, [`create database ${name} template template0`])
  const url = new URL(server)
  url.pathname = name
  await migrateDatabase({ kind: 'postgres', url: new Secret(url.href) })
  return url.href
}

export async function inDatabase(url: string, statements: readonly string[]): Promise<void> {
  await using client = await connectTo(url)
  for (const statement of statements) await client.query(statement)
}

/** The process whose children serve the connections. */
export async function serverProcess(url: string): Promise<number> {
  await using client = await connectTo(url)
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return parentOf(rows[0]?.pid ?? 0)
}

async function connectTo(url: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}
