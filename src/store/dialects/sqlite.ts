import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { CompiledQuery } from 'kysely'
import type { Clock } from '../../kernel/clock.ts'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Queries, Store, Tx } from '../store.ts'
import { WriteQueue, type GroupConnection } from '../write-queue.ts'
import { CAPABILITIES } from './capabilities.ts'
import { queriesOn, SqliteConnection } from './sqlite-connection.ts'
import { isBusy, storeUnavailable } from './sqlite-errors.ts'

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
      `The database ${path} cannot be opened: ${errorMessage(error)}.`,
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
