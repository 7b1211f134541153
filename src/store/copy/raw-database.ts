import { createHash, hash } from 'node:crypto'
import { AppError } from '../../kernel/errors.ts'
import { COPY_MARK } from '../migrate.ts'

/** The values of a row by the columns of its table. */
export type CopiedRow = readonly (string | number | null)[]

export interface CopiedTable {
  readonly name: string
  /** In alphabetical order. */
  readonly columns: readonly string[]
  /** The columns of its primary key. */
  readonly key: readonly string[]
}

/** A table without a primary key has one row, whose columns are all there. */
export function copiedTable(name: string, columns: readonly string[], key: readonly string[]): CopiedTable {
  return { name, columns, key: key.length > 0 ? key : columns }
}

/** How far a table is copied. */
export interface CopyProgress {
  /** The key of the last row; null before the first one. */
  readonly after: CopiedRow | null
  readonly isDone: boolean
}

export interface HeldLease {
  readonly name: string
  readonly holder: string
}

/** A database whose tables are read or filled as they are, whatever they mean. */
export interface RawDatabase {
  /** Every table but those of the schema and of the copy, by name. */
  tables(): Promise<CopiedTable[]>
  count(table: string): Promise<number>
  /** The next rows in the order of the key; few enough to be kept in memory, none at the end. */
  rows(table: CopiedTable, after: CopiedRow | null): Promise<CopiedRow[]>
  /** The last number that each numbered table gave out. */
  lastNumbers(): Promise<ReadonlyMap<string, number>>
  /** The leases that expire between these times, in epoch milliseconds. */
  leases(after: number, before: number): Promise<HeldLease[]>
  close(): Promise<void>
}

/** A database with the current schema that a copy fills. Each method is one transaction. */
export interface CopyTarget extends RawDatabase {
  /** How far an earlier copy came; undefined if none has begun. */
  progress(): Promise<ReadonlyMap<string, CopyProgress> | undefined>
  /** Empties every table, removes what refuses or slows rows in this order, and marks the database as unfinished. */
  begin(tables: readonly CopiedTable[]): Promise<void>
  /**
   * Adds rows and records the progress that they are read to. Rejects with `copy_running` if another copy has added rows
   * since `from`.
   */
  add(
    table: CopiedTable,
    batches: AsyncIterable<readonly CopiedRow[]>,
    from: CopyProgress,
    progress: () => CopyProgress,
  ): Promise<void>
  /** Empties a table, to be copied again. */
  clear(table: string): Promise<void>
  /**
   * Makes the indexes that {@link begin} has removed, one after the other; `onIndex` gets the table of each. Empties a table
   * whose rows an index refuses.
   */
  addIndexes(onIndex: (table: string) => void): Promise<void>
  /** Restores the foreign keys that {@link begin} has removed, continues the numbers, and removes the mark. */
  finish(numbers: ReadonlyMap<string, number>): Promise<void>
}

/** The values of the key. */
export function keyOf({ columns, key }: CopiedTable, row: CopiedRow): CopiedRow {
  return key.map((column) => row[columns.indexOf(column)] ?? null)
}

/** A name of a table or column as SQL. Names of the platform's tables need no escapes. */
export function quoteName(name: string): string {
  return `"${name}"`
}

export function copyRunning(): AppError {
  return new AppError(
    'conflict',
    'copy_running',
    'Another copy to the same target is running; wait for its end.',
  )
}

/** The tables that are not copied: each database has its own. */
export const OWN_TABLES: readonly string[] = ['schema_migrations', 'database_copy']

/** The row that keeps programs from serving an unfinished copy. */
export const UNFINISHED = { name: COPY_MARK, breaking: 1, applied_at: 0 } as const

const WORD_BYTES = 4
const WORDS = 8
const WORD_RANGE = 2 ** 32

/**
 * A hash of a set of rows that does not depend on their order: the sum of the SHA-256 of each row, modulo 2^256. The same
 * rows in another order have the same hash; a row more, less or changed gives another one.
 */
export class RowSetHash {
  readonly #sum = new Uint32Array(WORDS)
  #rows = 0

  get rows(): number {
    return this.#rows
  }

  add(row: string | Uint8Array): void {
    const digest = hash('sha256', row, 'buffer')
    let carry = 0
    for (let word = 0; word < WORDS; word++) {
      const sum = (this.#sum[word] ?? 0) + digest.readUInt32LE(word * WORD_BYTES) + carry
      this.#sum[word] = sum
      carry = sum >= WORD_RANGE ? 1 : 0
    }
    this.#rows++
  }

  /** With the number of rows and what else describes them, such as the columns. In hexadecimal digits. */
  digest(description: string): string {
    return createHash('sha256').update(`${description}\n${this.#rows}\n`).update(this.#sum).digest('hex')
  }
}
