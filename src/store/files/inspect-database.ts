import { CompiledQuery, sql } from 'kysely'
import type { Clock } from '../../kernel/clock.ts'
import { schemaStatus, type SchemaStatus } from '../migrate.ts'
import type { ServerFacts } from '../dialects/postgres-server.ts'
import { useStore, type DatabaseAddress } from '../open.ts'
import type { Queries, Store } from '../store.ts'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import { snapshotDamaged } from './restore-target.ts'
import { storeUnavailable } from '../unavailable.ts'
import { isDamaged } from '../dialects/sqlite-errors.ts'

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
  const { readServers } = await import('../dialects/postgres-server.ts')
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

interface Finding {
  readonly quick_check: string
}

const QUICK_CHECK: CompiledQuery<Finding> = CompiledQuery.raw('pragma quick_check(1)')

/**
 * Checks a database that may be in use, without writing to it: each page of a SQLite file, or that PostgreSQL, which
 * checks its own pages, answers. Rejects with `snapshot_damaged` or `store_unavailable`.
 */
export async function quickCheck(database: DatabaseAddress, signal?: AbortSignal): Promise<string> {
  if (database.kind === 'sqlite') return checkFile(database.path, signal)
  return useStore({ database, readOnly: true }, async (store) => {
    await store.check()
    return 'PostgreSQL answers'
  })
}

/** What is wrong with the pages of a database; undefined if nothing is. Rejects if it cannot be read. */
export async function findDamage(
  database: DatabaseAddress,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await quickCheck(database, signal)
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    const { code, cause, message } = error instanceof AppError ? error : storeUnavailable(error)
    if (code === 'snapshot_damaged' || isDamaged(cause)) return message
    throw error
  }
}

async function checkFile(path: string, signal?: AbortSignal): Promise<string> {
  const { readInThread } = await import('../dialects/sqlite-threads.ts')
  const rows = await readInThread(path, QUICK_CHECK, { inBackground: true, signal }).catch(
    (error: unknown) => {
      const cause = error instanceof AppError ? error.cause : error
      throw storeUnavailable(cause, `The database ${path} cannot be read: ${errorMessage(cause)}.`)
    },
  )
  // It begins with a line that names the only database.
  const result = rows[0]?.quick_check.split('\n').at(-1)
  if (result === 'ok') return 'quick_check: ok'
  throw snapshotDamaged(path, `quick_check: ${result}`)
}

/** Rows that refer to rows of another table which are gone. */
interface LostRows {
  /** Where the rows are gone. */
  readonly lostFrom: string
  /** Where the rows are that refer to them. */
  readonly table: string
  readonly rows: number
}

const FOREIGN_KEY_CHECK: CompiledQuery<LostRows> = CompiledQuery.raw(
  'select parent as "lostFrom", "table", count(*) as rows from pragma_foreign_key_check group by 1, 2 order by 1, 2',
)

/** What another program has deleted from a SQLite file: the platform deletes no row that another one refers to. */
export async function findLostRows(path: string, signal: AbortSignal): Promise<LostRows[]> {
  const { readInThread } = await import('../dialects/sqlite-threads.ts')
  return readInThread(path, FOREIGN_KEY_CHECK, { inBackground: true, signal })
}
