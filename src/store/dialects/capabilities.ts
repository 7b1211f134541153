import { sql, type ColumnDefinitionBuilder, type RawBuilder } from 'kysely'

export type DialectName = 'sqlite' | 'postgres'

/** What the engines do differently, in one place; queries and migrations ask here instead of naming an engine. */
export interface Capabilities {
  readonly dialect: DialectName
  /** Column type of an integer that must hold 2^53. */
  readonly integer: RawBuilder<unknown>
  /** What follows a table's closing bracket. */
  readonly tableSuffix: RawBuilder<unknown>
  /** Makes a column the table's key, numbered by the engine and never numbered twice. */
  readonly numbered: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder
  /**
   * The same, but numbered above the rows that are there: cheaper, for a table that is written often and whose newest
   * row is never removed.
   */
  readonly numberedAbove: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder
  /** Whether several writing transactions run side by side, so that a read row must be locked before it is changed. */
  readonly concurrentWriters: boolean
}

const SQLITE: Capabilities = {
  dialect: 'sqlite',
  integer: sql`integer`,
  // STRICT: without it a column takes any type of value, and a number bound by node:sqlite arrives as a REAL.
  tableSuffix: sql`strict`,
  numbered: (column) => column.primaryKey().autoIncrement(),
  numberedAbove: (column) => column.primaryKey(),
  concurrentWriters: false,
}

const identityKey = (column: ColumnDefinitionBuilder) => column.generatedAlwaysAsIdentity().primaryKey()

const POSTGRES: Capabilities = {
  dialect: 'postgres',
  integer: sql`bigint`,
  tableSuffix: sql``,
  numbered: identityKey,
  numberedAbove: identityKey,
  concurrentWriters: true,
}

export const CAPABILITIES: Readonly<Record<DialectName, Capabilities>> = {
  sqlite: SQLITE,
  postgres: POSTGRES,
}
