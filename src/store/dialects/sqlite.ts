import { statSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { storeUnavailable, type StoreLimits } from '../unavailable.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { writeSnapshot } from '../files/snapshot.ts'
import type { Store } from '../store.ts'
import { WriteQueue, type GroupConnection } from '../write-queue.ts'
import { CAPABILITIES } from './capabilities.ts'
import { createCheckpointer, type Checkpointer } from './sqlite-checkpointer.ts'
import {
  SqliteConnection,
  SqliteQueries,
  SqliteTransaction,
  ReadGate,
  SqliteStatements,
} from './sqlite-connection.ts'
import { isBusy, explainSqliteFailure } from './sqlite-errors.ts'
import { ReaderThread, copyInThread } from './sqlite-threads.ts'

/**
 * The file at the path of a database, as it was when the database was opened. An open file that is replaced or removed
 * goes on taking writes, which nothing reads afterwards.
 */
class SqliteFile {
  readonly #path: string
  readonly #identity: string

  constructor(path: string) {
    this.#path = path
    this.#identity = identityOf(path)
  }

  /** Throws `store_unavailable` when another file, or none, is at the path. */
  requireUnchanged(): void {
    const reason = this.#difference()
    if (reason === undefined) return
    throw storeUnavailable(
      new Error(`${this.#path} ${reason} while it was open; put the file back, or restart the platform`),
      'The database file was replaced or removed while it was open; nothing was changed.',
    )
  }

  #difference(): string | undefined {
    try {
      return identityOf(this.#path) === this.#identity ? undefined : 'was replaced by another file'
    } catch (error) {
      return `cannot be found (${error instanceof Error ? error.message : String(error)})`
    }
  }
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path)
  return `${dev}/${ino}`
}

const PRAGMAS = ['foreign_keys = on', 'trusted_schema = off', 'temp_store = memory']
const WRITER_PRAGMAS = [
  ...PRAGMAS,
  'journal_mode = wal',
  // A commit is on disk before it is acknowledged; with NORMAL a power loss may take the last ones.
  'synchronous = full',
  'journal_size_limit = 67108864',
  // Checkpoints have a thread of their own. A commit that makes one stops the event loop: after a snapshot of a large
  // database, with all commits since its start, for seconds.
  'wal_autocheckpoint = 0',
]
// In pages; for a writer whose thread has failed.
const OWN_CHECKPOINTS = 'wal_autocheckpoint = 16000'

// Other processes of the same database lock it for some milliseconds while they open it.
const OPEN_ATTEMPTS = 200
const OPEN_PAUSE_MS = 10

export interface SqliteOptions {
  readonly path: string
  /** Changes no file, not even to recover after another process crashed. */
  readonly readOnly: boolean
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly limits: Pick<StoreLimits, 'transactionMs'>
}

/**
 * SQLite by `node:sqlite`: one connection writes, a second one reads committed data. The engine itself never waits for
 * a lock (`timeout: 0`): that would stop the event loop.
 */
export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const { path } = options
  const { file, writer, reader } = await openFile(options)
  const capabilities = CAPABILITIES.sqlite
  const read = new SqliteQueries(new SqliteConnection(new SqliteStatements(reader), new ReadGate()))
  const checkpointer = createCheckpointer(path, {
    onFailure: () => writer.isOpen && writer.exec(`pragma ${OWN_CHECKPOINTS}`),
  })
  const queue = new WriteQueue({
    clock: options.clock,
    metrics: options.metrics,
    logger: options.logger,
    unavailable: storeUnavailable,
    connection: groupConnection({ database: writer, file, checkpointer }),
    transactionMs: options.limits.transactionMs,
  })
  const aside = new ReaderThread(path)
  let closing: Promise<void> | undefined
  const close = async () => {
    aside.end()
    await queue.idle()
    // First: the last connection to close removes the write-ahead log.
    await checkpointer.close()
    reader.close()
    writer.close()
  }
  return {
    capabilities,
    read,
    write: (work, writeOptions) => queue.write(work, writeOptions),
    readAside: (query) => aside.read(query.compile()),
    snapshot: (target, snapshotOptions = {}) =>
      writeSnapshot(target, snapshotOptions, async (empty) => {
        file.requireUnchanged()
        await copyInThread(path, empty, snapshotOptions.signal)
      }),
    check: async () => {
      file.requireUnchanged()
      try {
        reader.prepare('select 1 from sqlite_schema limit 1').all()
      } catch (error) {
        throw storeUnavailable(error)
      }
    },
    close: () => (closing ??= close()),
  }
}

interface Connections {
  readonly writer: DatabaseSync
  readonly reader: DatabaseSync
}

interface OpenFile extends Connections {
  readonly file: SqliteFile
}

async function openFile({ path, readOnly }: SqliteOptions): Promise<OpenFile> {
  try {
    if (!readOnly) makeFile(path)
    const file = new SqliteFile(path)
    return { file, ...(await connectTwice(path, readOnly, file)) }
  } catch (error) {
    const { reason, remedy } = explainSqliteFailure(path, error)
    throw new AppError(
      'unavailable',
      'store_unavailable',
      `The database ${path} cannot be opened: ${reason}. ${remedy}.`,
      { cause: error },
    )
  }
}

async function connectTwice(path: string, readOnly: boolean, file: SqliteFile): Promise<Connections> {
  for (let attempt = 1; ; attempt++) {
    try {
      // Closes the writer when the reader cannot be opened, and both when the file was replaced meanwhile.
      using opened = new DisposableStack()
      const writer = opened.use(connect(path, readOnly))
      const reader = opened.use(connect(path, readOnly))
      file.requireUnchanged()
      opened.move()
      return { writer, reader }
    } catch (error) {
      if (!isBusy(error) || attempt >= OPEN_ATTEMPTS) throw error
    }
    await pause(OPEN_PAUSE_MS)
  }
}

function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Created here, readable by its owner only from the first byte on; SQLite gives its journals the same mode.
  closeSync(openSync(path, 'a', 0o600))
}

function connect(path: string, readOnly: boolean): DatabaseSync {
  const options = { timeout: 0, enableForeignKeyConstraints: true, defensive: true }
  const database = new DatabaseSync(path, { ...options, readOnly })
  try {
    for (const pragma of readOnly ? PRAGMAS : WRITER_PRAGMAS) database.exec(`pragma ${pragma}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

interface GroupConnectionOptions {
  readonly database: DatabaseSync
  readonly file: SqliteFile
  readonly checkpointer: Checkpointer
}

function groupConnection({ database, file, checkpointer }: GroupConnectionOptions): GroupConnection {
  const statements = new SqliteStatements(database)
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
      file.requireUnchanged()
      try {
        begin.run()
        return true
      } catch (error) {
        if (isBusy(error)) return false
        throw error
      }
    },
    get changes() {
      return statements.changes
    },
    get isOpen() {
      return database.isTransaction
    },
    savepoint: () => void savepoint.run(),
    release: () => void release.run(),
    undo() {
      if (!database.isTransaction) return false
      undo.run()
      release.run()
      return true
    },
    commit() {
      commit.run()
      file.requireUnchanged()
      checkpointer.onCommit()
    },
    rollback() {
      if (database.isTransaction) rollback.run()
    },
    transaction(onCommit) {
      const connection = new SqliteConnection(statements)
      return { tx: new SqliteTransaction(connection, onCommit), end: () => connection.end() }
    },
  }
}
