import { existsSync } from 'node:fs'
import { systemClock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { HOUR } from '../../kernel/time.ts'
import { migrateForCopy, schemaStatus } from '../migrate.ts'
import { useStore, type DatabaseAddress } from '../open.ts'
import {
  keyOf,
  type CopiedTable,
  type CopyProgress,
  type CopyTarget,
  type RawDatabase,
  RowSetHash,
} from './raw-database.ts'
import { isDeadHolder } from '../work/holder.ts'
import { holderOf } from '../work/marks.ts'

/** What the copy tells while it works; the rows are those of the table until now. */
export type CopyObserver = (step: 'copying' | 'indexing' | 'comparing', table: string, rows?: number) => void

export interface ComparedTable {
  readonly table: string
  readonly rows: number
  readonly targetRows: number
  /** Undefined for a table that is none of the platform: it stays where it is. */
  readonly isEqual: boolean | undefined
}

const START: CopyProgress = { after: null, isDone: false }

// A served database has rows in some of them.
const SERVED_TABLES = new Set(['alerts', 'leases', 'messages', 'orders', 'users'])

/**
 * Copies the database at `from`, which has the current schema and is not written meanwhile, to the one at `to`, which is
 * empty or holds a copy that was cut off: that one goes on. At the end counts and hashes of all tables are compared.
 * Rejects with `source_in_use`, `target_not_empty`, `copy_running`, or `source_changed`.
 */
export async function copyDatabase(
  from: DatabaseAddress,
  to: DatabaseAddress,
  observer: CopyObserver,
): Promise<ComparedTable[]> {
  await requireOther(from, to)
  await using both = new AsyncDisposableStack()
  const source = opened(both, await openRaw(from))
  await requireUnserved(source)
  const hadSchema = await prepareSchema(to)
  const target = opened(both, await openRaw(to))
  const { tables, others } = await splitTables(source, target)
  if (!(await target.progress())) {
    if (hadSchema) await requireEmpty(target)
    await target.begin(tables)
  }
  for (const table of tables) await copyTable(source, target, table, observer)
  // One side reads while the other one sorts.
  const [hashes] = await Promise.all([
    hashesOf(source, tables, observer),
    target.addIndexes((table) => observer('indexing', table)),
  ])
  const compared = compareHashes(hashes, await hashesOf(target, tables, observer))
  const settled = await settle(source, target, tables, compared, observer)
  await target.finish(await source.lastNumbers())
  return [...settled, ...others]
}

/** Compares counts and hashes of all tables, and changes nothing. Rejects with `schema_outdated` or `copy_unfinished`. */
export async function compareDatabases(
  from: DatabaseAddress,
  to: DatabaseAddress,
  observer: CopyObserver,
): Promise<ComparedTable[]> {
  await requireOther(from, to)
  await requireComparable(to)
  await using both = new AsyncDisposableStack()
  const [source, target] = [opened(both, await openRaw(from)), opened(both, await openRaw(to))]
  const { tables, others } = await splitTables(source, target)
  return [...(await compare(source, target, tables, observer)), ...others]
}

/** Both have the schema of the platform, so a table that only the source has is none of it. */
async function splitTables(source: RawDatabase, target: RawDatabase) {
  const names = new Set((await target.tables()).map(({ name }) => name))
  const all = await source.tables()
  const others: ComparedTable[] = []
  for (const { name: table } of all)
    if (!names.has(table))
      others.push({ table, rows: await source.count(table), targetRows: 0, isEqual: undefined })
  return { tables: all.filter(({ name }) => names.has(name)), others }
}

function opened<T extends RawDatabase>(both: AsyncDisposableStack, database: T): T {
  both.defer(() => database.close())
  return database
}

async function openRaw(address: DatabaseAddress): Promise<CopyTarget> {
  if (address.kind === 'sqlite') {
    const { openRawSqlite } = await import('../dialects/sqlite-copy.ts')
    return openRawSqlite(address.path)
  }
  const { openRawPostgres } = await import('../dialects/postgres-copy.ts')
  return openRawPostgres(address.url)
}

async function requireOther(from: DatabaseAddress, to: DatabaseAddress): Promise<void> {
  const nameOf = (address: DatabaseAddress) =>
    address.kind === 'sqlite' ? address.path : address.url.reveal()
  if (nameOf(from) !== nameOf(to)) return
  throw new AppError('invalid', 'same_database', 'The target of the copy is the configured database itself.')
}

// What expires later never does, or was taken by a clock that was ahead.
const LONGEST_LEASE_MS = HOUR

/** A process that writes holds a lease, or takes one within seconds. The lease of a killed process of this host counts as ended. */
async function requireUnserved(source: RawDatabase): Promise<void> {
  const now = systemClock.now()
  const held = (await source.leases(now, now + LONGEST_LEASE_MS)).map(holderOf)
  const holder = held.find((process) => !isDeadHolder(process))
  if (holder === undefined) return
  const message = `A platform writes to the database (${holder}). Stop it, or start it with read_only = true; after a crash of its host, wait three minutes.`
  throw new AppError('conflict', 'source_in_use', message)
}

/** Whether there was a schema before; then it is current already, or `target_not_empty`. */
async function prepareSchema(address: DatabaseAddress): Promise<boolean> {
  return useStore({ database: address }, async (store) => {
    await store.check()
    const { applied, pending } = await schemaStatus(store, { allowsCopy: true })
    if (applied.length > 0 && pending.length > 0) throw targetNotEmpty('it has the schema of another release')
    if (applied.length > 0) return true
    await requireNoTables(address)
    await migrateForCopy(store, systemClock)
    return false
  })
}

async function requireComparable(address: DatabaseAddress): Promise<void> {
  if (address.kind === 'sqlite' && !existsSync(address.path))
    throw new AppError('unavailable', 'target_missing', `There is no database at ${address.path}.`)
  await useStore({ database: address, readOnly: true }, async (store) => {
    await store.check()
    const { pending } = await schemaStatus(store)
    if (pending.length === 0) return
    throw new AppError('conflict', 'schema_outdated', 'The target does not have the schema of this release.')
  })
}

/** Without the schema of the platform a table is one of another program. */
async function requireNoTables(address: DatabaseAddress): Promise<void> {
  await using opening = new AsyncDisposableStack()
  const [table] = await opened(opening, await openRaw(address)).tables()
  if (table) throw targetNotEmpty(`it has the table ${table.name}, but not the schema of the platform`)
}

async function requireEmpty(target: RawDatabase): Promise<void> {
  for (const { name } of await target.tables())
    if (SERVED_TABLES.has(name) && (await target.count(name)) > 0)
      throw targetNotEmpty(`its table ${name} has rows`)
}

function targetNotEmpty(why: string): AppError {
  const message = `The target of the copy is not empty: ${why}. Name an empty database (CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0), or one in which a copy was cut off. If a platform was started on it by mistake and nobody needs what is in it, stop that platform, remove the database (DROP DATABASE …; of SQLite its files), and create it again.`
  return new AppError('conflict', 'target_not_empty', message)
}

// So many batches are one transaction: the target works on one while the source reads the next.
const ADDED_BATCHES = 20

async function copyTable(
  source: RawDatabase,
  target: CopyTarget,
  table: CopiedTable,
  observer: CopyObserver,
): Promise<void> {
  let progress = (await target.progress())?.get(table.name) ?? START
  let copied = 0
  async function* nextBatches() {
    for (let batch = 0; batch < ADDED_BATCHES; batch++) {
      const rows = await source.rows(table, progress.after)
      const last = rows.at(-1)
      progress = { after: last ? keyOf(table, last) : progress.after, isDone: last === undefined }
      if (!last) return
      yield rows
      copied += rows.length
      observer('copying', table.name, copied)
    }
  }
  while (!progress.isDone) await target.add(table, nextBatches(), progress, () => progress)
}

/** Copies again what differs, once: the source was written before it was served read-only. */
async function settle(
  source: RawDatabase,
  target: CopyTarget,
  tables: readonly CopiedTable[],
  compared: ComparedTable[],
  observer: CopyObserver,
): Promise<ComparedTable[]> {
  const differing = tables.filter(({ name }) =>
    compared.some((other) => other.table === name && !other.isEqual),
  )
  if (differing.length === 0) return compared
  for (const table of differing) {
    await target.clear(table.name)
    await copyTable(source, target, table, observer)
  }
  const again = await compare(source, target, tables, observer)
  const names = again.filter(({ isEqual }) => !isEqual).map(({ table }) => table)
  if (names.length === 0) return again
  const message = `The database was written during the copy (${names.join(', ')}). Stop every platform that serves it, or start it with read_only = true; then repeat the command, which goes on.`
  throw new AppError('conflict', 'source_changed', message)
}

async function compare(
  source: RawDatabase,
  target: RawDatabase,
  tables: readonly CopiedTable[],
  observer: CopyObserver,
): Promise<ComparedTable[]> {
  const both = [hashesOf(source, tables, observer), hashesOf(target, tables)] as const
  return compareHashes(...(await Promise.all(both)))
}

interface HashedTable {
  readonly table: string
  readonly rows: number
  readonly hash: string
}

/** Both are of the same tables in the same order. */
function compareHashes(ours: readonly HashedTable[], theirs: readonly HashedTable[]): ComparedTable[] {
  return ours.map(({ table, rows, hash }, index) => ({
    table,
    rows,
    targetRows: theirs[index]?.rows ?? 0,
    isEqual: hash === theirs[index]?.hash,
  }))
}

async function hashesOf(
  database: RawDatabase,
  tables: readonly CopiedTable[],
  observer?: CopyObserver,
): Promise<HashedTable[]> {
  const hashes: HashedTable[] = []
  for (const table of tables) hashes.push(await hashOf(database, table, observer))
  return hashes
}

async function hashOf(
  database: RawDatabase,
  table: CopiedTable,
  observer: CopyObserver | undefined,
): Promise<HashedTable> {
  const hash = new RowSetHash()
  for (let reading = database.rows(table, null); ;) {
    const rows = await reading
    const last = rows.at(-1)
    if (!last) return { table: table.name, rows: hash.rows, hash: hash.digest(table.columns.join()) }
    observer?.('comparing', table.name, hash.rows + rows.length)
    // A server reads the next rows meanwhile.
    reading = database.rows(table, keyOf(table, last))
    for (const row of rows) hash.add(JSON.stringify(row))
  }
}
