import { sql, type RawBuilder } from 'kysely'

export type DialectName = 'sqlite' | 'postgres'

/** The differences of the engines; queries and migrations use them instead of naming an engine. */
export interface Capabilities {
  readonly dialect: DialectName
  /** Column type of an integer that must hold 2^53. */
  readonly integer: RawBuilder<unknown>
  /** Options behind the column list of a table. */
  readonly tableSuffix: RawBuilder<unknown>
  /** Type of a column that is the primary key; the engine assigns numbers and never repeats one. */
  readonly numbered: RawBuilder<unknown>
  /**
   * The same, with the highest existing number plus one: cheaper, for a table with many inserts whose newest row is never
   * removed.
   */
  readonly numberedAbove: RawBuilder<unknown>
  /** Continues the numbers of a `numberedAbove` table after this one. Null: a row must have it. */
  readonly continueAfter: ((table: string, number: number) => RawBuilder<unknown>) | null
  /** Whether several write transactions run at a time, so that a row must be locked between its read and its change. */
  readonly concurrentWriters: boolean
  /** Waits until no other transaction has locked that name, and locks it. Null: there is one writer. */
  readonly lockName: ((name: string) => RawBuilder<unknown>) | null
  /** Whether a constraint of a table can be replaced; without it the table is made anew. */
  readonly replacesConstraints: boolean
  /** Whether every text is compared and sorted byte by byte. */
  readonly hasByteOrder: boolean
  /** A text column that is compared and sorted byte by byte, whatever the sort order of the database. */
  readonly byBytes: (column: string) => RawBuilder<string>
  /** The function that returns the position of its second text in its first one, or 0. */
  readonly positionIn: RawBuilder<unknown>
  /** A table of the texts in a JSON array: `value`, and `place`, which counts from 0. */
  readonly textsOf: (json: string) => RawBuilder<{ readonly place: number; readonly value: string }>
  /** The size of the database. */
  readonly databaseBytes: RawBuilder<number>
  /** The file name extension of its snapshots. */
  readonly snapshotExtension: 'db' | 'dump'
}

const SQLITE: Capabilities = {
  dialect: 'sqlite',
  integer: sql`integer`,
  // Without STRICT a column takes values of any type, and a number bound by node:sqlite arrives as a REAL.
  tableSuffix: sql`strict`,
  numbered: sql`integer primary key autoincrement`,
  numberedAbove: sql`integer primary key`,
  continueAfter: null,
  concurrentWriters: false,
  lockName: null,
  replacesConstraints: false,
  hasByteOrder: true,
  byBytes: (column) => sql.ref(column),
  positionIn: sql`instr`,
  textsOf: (json) =>
    sql<{ place: number; value: string }>`(select key as place, value from json_each(${json}))`,
  databaseBytes: sql<number>`(select page_count * page_size from pragma_page_count(), pragma_page_size())`,
  snapshotExtension: 'db',
}

const IDENTITY_KEY = sql`bigint generated always as identity primary key`

const POSTGRES: Capabilities = {
  dialect: 'postgres',
  integer: sql`bigint`,
  tableSuffix: sql``,
  numbered: IDENTITY_KEY,
  numberedAbove: IDENTITY_KEY,
  continueAfter: (table, number) => sql`select setval(pg_get_serial_sequence(${table}, 'seq'), ${number})`,
  concurrentWriters: true,
  lockName: (name) => sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`,
  replacesConstraints: true,
  hasByteOrder: false,
  byBytes: (column) => sql`${sql.ref(column)} collate "C"`,
  positionIn: sql`strpos`,
  textsOf: (json) =>
    sql<{
      place: number
      value: string
    }>`(select cast(n - 1 as integer) as place, value from json_array_elements_text(cast(${json} as json)) with ordinality as texts(value, n))`,
  databaseBytes: sql<number>`pg_database_size(current_database())`,
  snapshotExtension: 'dump',
}

export const CAPABILITIES: Readonly<Record<DialectName, Capabilities>> = {
  sqlite: SQLITE,
  postgres: POSTGRES,
}
