import { CompiledQuery, sql } from 'kysely'
import type { Clock } from '../../kernel/clock.ts'
import { schemaStatus, type SchemaStatus } from '../migrate.ts'
import type { ServerFacts } from '../dialects/postgres-probe.ts'
import type { DatabaseAddress } from '../open.ts'
import type { Queries, Store } from '../store.ts'

/** What can be learned of a database without writing to it. */
export interface DatabaseFacts {
  readonly schema: SchemaStatus
  /** The settings on which a commit and its durability depend, by their names. */
  readonly settings: Readonly<Record<string, string>>
  /** The server's clock, in epoch milliseconds; a SQLite file has no clock of its own. */
  readonly clockMs: number | undefined
}

const SERVER_SETTINGS = [
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'server_encoding',
  'transaction_read_only',
]

/** Reads the facts of the open database at that address. Rejects with `schema_too_new`, as a start would. */
export async function inspectDatabase(
  store: Store,
  database: DatabaseAddress,
  clock: Clock,
): Promise<DatabaseFacts> {
  const schema = await schemaStatus(store)
  if (database.kind === 'postgres') return { schema, ...(await inspectServer(store.read, clock)) }
  const { readInThread } = await import('../dialects/sqlite-threads.ts')
  const query: CompiledQuery<{ journal_mode: string }> = CompiledQuery.raw('pragma journal_mode')
  const [row] = await readInThread(database.path, query)
  return { schema, settings: { journal_mode: row?.journal_mode ?? 'unknown' }, clockMs: undefined }
}

async function inspectServer(
  { db }: Queries,
  clock: Clock,
): Promise<Pick<DatabaseFacts, 'settings' | 'clockMs'>> {
  const run = async <R>(text: string) => {
    const query: CompiledQuery<R> = CompiledQuery.raw(text)
    return (await db.executeQuery(query)).rows
  }
  const names = SERVER_SETTINGS.map((name) => `'${name}'`).join(', ')
  const rows = await run<{ name: string; setting: string }>(
    `select name, setting from pg_settings where name in (${names}) order by name`,
  )
  const sentAt = clock.now()
  const [row] = await run<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  return {
    settings: Object.fromEntries(rows.map(({ name, setting }) => [name, setting])),
    // The answer was on its way for half of the time.
    clockMs: row && row.ms + (clock.now() - sentAt) / 2,
  }
}

/** What each server of a list of hosts is, whether or not one of them can be used; empty without a list. */
export async function inspectServers(database: DatabaseAddress): Promise<readonly ServerFacts[]> {
  if (database.kind === 'sqlite') return []
  const { readServers } = await import('../dialects/postgres-probe.ts')
  return readServers(database.url)
}

const OLDEST_USER: CompiledQuery<{ id: string }> = CompiledQuery.raw(
  'select id from users order by created_at, id limit 1',
)

/** Whether a SQLite file has a first user that the database does not have: the one is no copy of the other. */
export async function hasOtherUsers(path: string, { read: { db } }: Store): Promise<boolean> {
  const { readInThread } = await import('../dialects/sqlite-threads.ts')
  const [user] = await readInThread(path, OLDEST_USER).catch(() => [])
  if (!user) return false
  const { rows } = await sql<{ id: string }>`select id from users where id = ${user.id}`.execute(db)
  return rows.length === 0
}
