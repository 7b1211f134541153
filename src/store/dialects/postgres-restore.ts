import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import { databaseInUse, type RestoreTarget } from '../files/restore-target.ts'
import type { Queries, Store } from '../store.ts'
import { KEPT_ASIDE, runPostgresProgram, findNewestPostgresProgram } from './postgres-programs.ts'
import { listArchive } from './postgres-archive.ts'

/** Opens the database for a piece of work, and closes it. */
type UseDatabase = <T>(work: (store: Store) => Promise<T>) => Promise<T>

/**
 * Restores an archive of PostgreSQL: the former tables move to another schema of the same database, which needs no right but
 * that of their owner to create a schema.
 */
export function postgresRestore(url: Secret, useDatabase: UseDatabase): RestoreTarget {
  return {
    requireUnserved: () => useDatabase(requireUnserved),
    replace: ({ path, finish }, stamp) =>
      useDatabase(async (store) => {
        // A process may have started since the first check: a large archive is verified for minutes.
        await requireUnserved(store)
        const schema = await currentSchema(store.read)
        const former = `${KEPT_ASIDE}${stamp.toLowerCase()}`
        const tables = await moveTables(store, { from: schema, to: former })
        try {
          await restoreArchive(store, { url, path })
          await store.write(finish, { longRunning: true })
        } catch (error) {
          await moveTablesBack(store, { from: former, to: schema })
          throw error
        }
        return { former: tables > 0 ? `the schema ${former}` : undefined }
      }),
  }
}

const CHECK_ATTEMPTS = 20
const CHECK_PAUSE_MS = 100

/** The server may need a moment to end the connections that this process has closed. */
async function requireUnserved({ read }: Store): Promise<void> {
  for (let attempt = 1; (await countOthers(read)) > 0; attempt++) {
    if (attempt === CHECK_ATTEMPTS) throw databaseInUse('The database')
    await wait(CHECK_PAUSE_MS)
  }
}

/** Connections of other processes of the platform; this one has one connection. */
async function countOthers({ db }: Queries): Promise<number> {
  const { rows } = await sql<{ others: number }>`
    select count(*) as others from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name = 'platform'`.execute(
    db,
  )
  return rows[0]?.others ?? 0
}

async function currentSchema({ db }: Queries): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db)
  return rows[0]?.name ?? 'public'
}

interface Move {
  readonly from: string
  readonly to: string
}

/** Moves every table to a new schema, with its indexes and sequences; answers how many. */
function moveTables(store: Store, { from, to }: Move): Promise<number> {
  return store.write(
    async ({ db }) => {
      const names = await tablesIn({ db }, from)
      if (names.length > 0) await sql`create schema ${sql.id(to)}`.execute(db)
      await setSchema({ db }, names, { from, to })
      return names.length
    },
    { longRunning: true },
  )
}

/** Drops the tables that are there now: every former table was moved, so they are restored ones. */
async function moveTablesBack(store: Store, { from, to }: Move): Promise<void> {
  await store.write(
    async ({ db }) => {
      for (const name of await tablesIn({ db }, to))
        await sql`drop table ${sql.id(to, name)} cascade`.execute(db)
      await setSchema({ db }, await tablesIn({ db }, from), { from, to })
      await sql`drop schema if exists ${sql.id(from)}`.execute(db)
    },
    { longRunning: true },
  )
}

async function setSchema({ db }: Pick<Queries, 'db'>, tables: readonly string[], { from, to }: Move) {
  for (const table of tables)
    await sql`alter table ${sql.id(from, table)} set schema ${sql.id(to)}`.execute(db)
}

async function tablesIn({ db }: Pick<Queries, 'db'>, schema: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = ${schema} order by tablename`.execute(db)
  return rows.map(({ name }) => name)
}

interface Archive {
  readonly url: Secret
  readonly path: string
}

/** Other schemas of the archive are not those of the platform, and may be in the database. */
async function restoreArchive(store: Store, { url, path }: Archive): Promise<void> {
  const schema = await archivedSchema(store, path)
  const program = await findNewestPostgresProgram('pg_restore')
  const options = [
    '--no-owner',
    '--no-privileges',
    '--exit-on-error',
    '--single-transaction',
    '--no-password',
    ...(schema === undefined ? [] : [`--schema=${schema}`]),
    path,
  ]
  await runPostgresProgram(program, options, { url }).catch((error: unknown) => {
    throw restoreRefused(path, error)
  })
}

function restoreRefused(path: string, cause: unknown): AppError {
  const message = `The database does not take the file ${path}: ${errorMessage(cause)}. The database is as it was. If this names a view, a function or a type that is not of the platform, drop it and repeat the command.`
  return new AppError('conflict', 'restore_refused', message, { cause })
}

const LEDGER_ENTRY = / TABLE (\S+) schema_migrations /

/** The schema of the platform's tables in the archive; undefined if the archive has to create it. */
async function archivedSchema({ read: { db } }: Store, path: string): Promise<string | undefined> {
  const entries = await listArchive(path)
  const name = entries.map((entry) => LEDGER_ENTRY.exec(entry)?.[1]).find((schema) => schema !== undefined)
  if (name === undefined) return undefined
  const { rows } = await sql`select 1 from pg_namespace where nspname = ${name}`.execute(db)
  return rows.length > 0 ? name : undefined
}
