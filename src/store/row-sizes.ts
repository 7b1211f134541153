import { sql, type RawBuilder } from 'kysely'

/** The bytes of large rows that are read, changed or removed together, in one turn of the event loop. */
export const BATCH_BYTES = 1_048_576

/** The size of a row, which is read before the row itself. */
export interface RowSize {
  readonly bytes: number
}

/**
 * The bytes of some text columns. Neither engine reads the text for it: SQLite has the length in the header of the row, and
 * PostgreSQL beside a long value.
 */
export function sizeOf(...columns: readonly string[]): RawBuilder<number> {
  const sizes = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`)
  return sql<number>`${sql.join(sizes, sql` + `)}`
}

/** How many of the first rows have at most `limitBytes` in all; at least one, if there are rows. */
export function countWithin(rows: readonly RowSize[], limitBytes: number): number {
  let bytes = 0
  const end = rows.findIndex((row, index) => (bytes += row.bytes) > limitBytes && index > 0)
  return end === -1 ? rows.length : end
}
