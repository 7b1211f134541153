import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Queries, Store, Tx } from '../store.ts'
import type { Tables } from '../tables.ts'
import { WriteQueue, type GroupConnection } from '../write-queue.ts'
import { CAPABILITIES } from './capabilities.ts'

// https://www.sqlite.org/rescode.html, primary codes
const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
// The journal of a database that is away for good or for a while: I/O error, corrupt, full, cannot open, not a database.
const STORE_FAILURES = new Set([10, 11, 13, 14, 26])

const PRAGMAS = [
  'journal_mode = wal',
  // A commit is on disk before it is acknowledged; NORMAL may lose the last ones with the power.
  'synchronous = full',
  'foreign_keys = on',
  'trusted_schema = off',
  'temp_store = memory',
  'journal_size_limit = 67108864',
]

// Opening competes with the other processes of the same database for a few milliseconds at most.
const OPEN_ATTEMPTS = 200
const OPEN_PAUSE_MS = 10

export interface SqliteOptions {
  readonly path: string
  readonly clock: Clock
  readonly metrics: Metrics
}

/**
 * SQLite by `node:sqlite`: one connection writes, a second one reads what was committed. The engine never waits for a
 * lock by itself (`timeout: 0`), since its waiting would stop the event loop.
 */
export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const { path } = options
  const [writer, reader] = await opened(path)
  const capabilities = CAPABILITIES.sqlite
  const read = queriesOn(new SqliteConnection(reader))
  const writeQueries = queriesOn(new SqliteConnection(writer))
  const queue = new WriteQueue({
    clock: options.clock,
    metrics: options.metrics,
    unavailable: storeUnavailable,
    connection: groupConnection(writer, writeQueries),
  })
  let closing: Promise<void> | undefined
  const close = async () => {
    await queue.idle()
    reader.close()
    writer.close()
  }
  return {
    capabilities,
    read,
    write: (work) => queue.write(work),
    readAside: (query) => readInWorker(path, query.compile()),
    check: async () => {
      try {
        reader.prepare('select 1 from sqlite_schema limit 1').all()
      } catch (error) {
        throw storeUnavailable(error)
      }
    },
    close: () => (closing ??= close()),
  }
}

async function opened(path: string): Promise<[writer: DatabaseSync, reader: DatabaseSync]> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    // Made here, so that nobody else can read it from its first byte on; SQLite gives its journals the same mode.
    closeSync(openSync(path, 'a', 0o600))
    for (let attempt = 1; ; attempt++) {
      try {
        return [connect(path), connect(path)]
      } catch (error) {
        if (!isBusy(error) || attempt >= OPEN_ATTEMPTS) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, OPEN_PAUSE_MS))
    }
  } catch (error) {
    throw new AppError(
      'unavailable',
      'store_unavailable',
      `The database ${path} cannot be opened: ${reason(error)}.`,
      {
        cause: error,
      },
    )
  }
}

function connect(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: true, defensive: true })
  try {
    for (const pragma of PRAGMAS) database.exec(`pragma ${pragma}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** One connection with its prepared statements. */
class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, { statement: StatementSync; returnsRows: boolean }>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  run(text: string, values: readonly unknown[]): { rows: unknown[]; changes: bigint } {
    try {
      const { statement, returnsRows } = this.#prepare(text)
      if (returnsRows) return { rows: statement.all(...(values as SQLInputValue[])), changes: 0n }
      return { rows: [], changes: BigInt(statement.run(...(values as SQLInputValue[])).changes) }
    } catch (error) {
      throw isStoreFailure(error) ? storeUnavailable(error) : error
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes } = this.run(query.sql, query.parameters)
    return { rows: rows as R[], numAffectedRows: changes }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming would hold the connection; read in pages instead.')
  }

  #prepare(text: string) {
    const known = this.#prepared.get(text)
    if (known) return known
    const statement = this.#database.prepare(text)
    const entry = { statement, returnsRows: statement.columns().length > 0 }
    if (this.#prepared.size < STATEMENTS_KEPT) this.#prepared.set(text, entry)
    return entry
  }
}

// Texts are made by our own code, so they are few; the bound is for a query whose lists have many lengths.
const STATEMENTS_KEPT = 500

function queriesOn(connection: SqliteConnection): Queries {
  const db = new Kysely<Tables>({ dialect: dialectOn(connection) })
  return {
    db,
    capabilities: CAPABILITIES.sqlite,
    async run(statement, parameters) {
      const { text, values } = statement.bind('sqlite', db, parameters)
      return connection.run(text, values).rows as never[]
    },
  }
}

function dialectOn(connection: SqliteConnection): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driverOn(connection),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** The connection is opened, closed and put into transactions by the store, never by the query builder. */
function driverOn(connection: SqliteConnection): Driver {
  const refuse = async () => {
    throw new Error('Transactions are opened by store.write() only.')
  }
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  }
}

function groupConnection(database: DatabaseSync, queries: Queries): GroupConnection {
  const [begin, savepoint, release, undo, commit, rollback] = [
    'begin immediate',
    'savepoint job',
    'release job',
    'rollback to job',
    'commit',
    'rollback',
  ].map((text) => database.prepare(text)) as [
    StatementSync,
    StatementSync,
    StatementSync,
    StatementSync,
    StatementSync,
    StatementSync,
  ]
  return {
    begin() {
      try {
        begin.run()
        return true
      } catch (error) {
        if (isBusy(error)) return false
        throw error
      }
    },
    savepoint: () => void savepoint.run(),
    release: () => void release.run(),
    undo() {
      if (!database.isTransaction) return false
      undo.run()
      release.run()
      return true
    },
    commit: () => void commit.run(),
    rollback() {
      if (database.isTransaction) rollback.run()
    },
    transaction: (onCommit): Tx => ({ ...queries, afterCommit: onCommit }),
  }
}

function readInWorker<R>(path: string, query: CompiledQuery<R>): Promise<R[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./sqlite-reader.ts', import.meta.url), {
      workerData: { path, text: query.sql, values: query.parameters },
    })
    worker.unref()
    worker.once('message', (rows: R[]) => resolve(rows))
    worker.once('error', (error) => reject(storeUnavailable(error)))
    worker.once('exit', () =>
      reject(storeUnavailable(new Error('the reading thread ended without an answer'))),
    )
  })
}

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined
  return error.errcode & 0xff
}

function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === SQLITE_BUSY || code === SQLITE_LOCKED
}

function isStoreFailure(error: unknown): boolean {
  const code = primaryCode(error)
  return code !== undefined && STORE_FAILURES.has(code)
}

function storeUnavailable(cause: unknown): AppError {
  return new AppError(
    'unavailable',
    'store_unavailable',
    'The database cannot take this call now; try again.',
    {
      cause,
      retryAfterSeconds: 1,
    },
  )
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
