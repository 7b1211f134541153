// A thread that reads every row of a SQLite file, and ends.
import { createHash, type Hash } from 'node:crypto'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { identifier, tablesOf, type SqliteTable } from './sqlite-columns.ts'

// The manifest of a package has these hashes (`format` 1): another encoding of the rows would need another format.

const BATCH_BYTES = 512 * 1_024
// A batch of larger rows is read in smaller steps, down to one row.
const LIMIT_BYTES = 64 * 1_024 ** 2
const LONGEST_VALUE = 1_000_000_000
const FIRST_BATCH_ROWS = 256
const MOST_BATCH_ROWS = 50_000
const SMALLEST_ROWID = -(2n ** 63n)
const LARGEST_ROWID = 2n ** 63n - 1n
// sqlite.org/rescode.html
const SQLITE_TOOBIG = 18

const { path } = workerData as { path: string }

function readContents() {
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5_000, defensive: true })
  database.exec('pragma trusted_schema = off')
  database.limits.length = LIMIT_BYTES
  const tables = tablesOf(database)
  const hashes = tables.map((table) => [table.name, readTable(database, table)] as const)
  return Object.fromEntries(hashes)
}

function readTable(database: DatabaseSync, table: SqliteTable): { rows: number; hash: string } {
  const hash = createHash('sha256').update(`${table.columns.join(',')}\n`)
  const rows =
    table.rowid === undefined ? hashRows(database, table, hash) : hashBatches(database, table, hash)
  return { rows, hash: hash.digest('hex') }
}

/** Each row by itself: for the few tables that have no number to go on from. */
function hashRows(database: DatabaseSync, { name, rowText }: SqliteTable, hash: Hash): number {
  database.limits.length = LONGEST_VALUE
  const query = `select cast(${rowText} as blob) as bytes from ${identifier(name)} not indexed`
  let rows = 0
  for (const { bytes } of database.prepare(query).iterate()) {
    hash.update(bytes as Uint8Array)
    rows++
  }
  return rows
}

interface Batch {
  readonly rows: number
  readonly last: bigint
  readonly bytes: Uint8Array
}

/** Many rows in one call: a call for each of them takes several times as long. */
function hashBatches(database: DatabaseSync, table: SqliteTable, hash: Hash): number {
  const read = batchReader(database, table)
  let [rows, from, size] = [0, SMALLEST_ROWID, FIRST_BATCH_ROWS]
  for (;;) {
    const batch = read(from, size)
    if (batch === 'too large') {
      size = smallerBatch(database, size)
      continue
    }
    if (batch === 'end') return rows
    const bytesARow = batch.bytes.length / batch.rows
    hash.update(batch.bytes)
    release(batch.bytes)
    rows += batch.rows
    if (batch.last === LARGEST_ROWID) return rows
    from = batch.last + 1n
    size = nextSize(bytesARow)
  }
}

function batchReader(
  database: DatabaseSync,
  { name, rowid, rowText }: SqliteTable,
): (from: bigint, size: number) => Batch | 'end' | 'too large' {
  const query = database.prepare(
    `select count(*) as rows, max(number) as last, cast(group_concat(content, '') as blob) as bytes from (
       select ${rowid} as number, ${rowText} as content from ${identifier(name)}
       where ${rowid} >= ? order by ${rowid} limit ?)`,
  )
  query.setReadBigInts(true)
  return (from, size) => {
    try {
      return toBatch(query.get(from, size))
    } catch (error) {
      if (isTooLarge(error)) return 'too large'
      throw error
    }
  }
}

/** Without a row, the last number and the bytes are NULL. */
function toBatch({ rows, last, bytes }: Record<string, SQLOutputValue> = {}): Batch | 'end' {
  return typeof last === 'bigint' && bytes instanceof Uint8Array ? { rows: Number(rows), last, bytes } : 'end'
}

/** A single row that is larger than the limit is read nevertheless. */
function smallerBatch(database: DatabaseSync, size: number): number {
  if (size > 1) return Math.ceil(size / 8)
  if (database.limits.length === LONGEST_VALUE) throw new Error('a row is larger than 1 GB')
  database.limits.length = LONGEST_VALUE
  return 1
}

function nextSize(bytesARow: number): number {
  return Math.max(1, Math.min(MOST_BATCH_ROWS, Math.floor(BATCH_BYTES / bytesARow)))
}

/** Gives the memory back at once: the garbage collector would wait for a hundred batches. */
function release({ buffer }: Uint8Array): void {
  ;(buffer as ArrayBuffer).transfer(0)
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_TOOBIG
}

parentPort?.postMessage(readContents())
