import { sql, type RawBuilder } from 'kysely'
import type { PageRequest } from '../kernel/page.ts'
import { HOUR } from '../kernel/time.ts'
import type { Queries } from './store.ts'

// Rows are created in the order of `seq`, except if the clock of a process was set back.
const CLOCK_TOLERANCE_MS = HOUR

/** The bounds of a time range: of the time of creation, and of the `seq` that belongs to it. A missing bound is open. */
export interface CreatedRange {
  readonly createdFrom?: number
  readonly firstSeq?: number
  readonly createdTo?: number
  readonly endSeq?: number
}

type RangeConditions = Readonly<Record<keyof CreatedRange, (value: number) => RawBuilder<boolean>>>

/** The condition for each bound; `column` contains the time of creation. */
export function rangeConditions(column: string): RangeConditions {
  const at = sql.ref(column)
  return {
    createdFrom: (time) => sql`${at} >= ${time}`,
    firstSeq: (seq) => sql`seq >= ${seq}`,
    createdTo: (time) => sql`${at} < ${time}`,
    endSeq: (seq) => sql`seq < ${seq}`,
  }
}

/**
 * Finds the bounds of a time range. `column` contains the time of creation, and needs no index: a binary search finds the
 * range of `seq`, so that a page reads no rows outside it. Rows that were created with a clock that was wrong by more than
 * an hour may be missing.
 */
export async function createdRange(
  queries: Queries,
  table: string,
  column: string,
  { createdFrom, createdTo }: Pick<PageRequest, 'createdFrom' | 'createdTo'>,
): Promise<CreatedRange> {
  const firstSince = (time: number) => firstSeqSince(queries, table, column, time)
  return {
    ...(createdFrom !== undefined && {
      createdFrom,
      firstSeq: await firstSince(createdFrom - CLOCK_TOLERANCE_MS),
    }),
    ...(createdTo !== undefined && { createdTo, endSeq: await firstSince(createdTo + CLOCK_TOLERANCE_MS) }),
  }
}

/** The conditions of a {@link createdRange}, for a query that is not prepared. */
export async function createdIn(
  queries: Queries,
  table: string,
  column: string,
  times: Pick<PageRequest, 'createdFrom' | 'createdTo'>,
): Promise<readonly RawBuilder<boolean>[]> {
  const range = await createdRange(queries, table, column, times)
  const conditions = rangeConditions(column)
  return Object.entries(range).map(([name, value]) => conditions[name as keyof CreatedRange](value))
}

/** The smallest `seq` from which on rows were created at `time` or later. */
async function firstSeqSince(queries: Queries, table: string, column: string, time: number): Promise<number> {
  let low = 0
  let high = (await lastSeq(queries, table)) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = await firstRowFrom(queries, table, column, middle)
    if (row && row.at < time) low = row.seq + 1
    else high = middle
  }
  return low
}

async function firstRowFrom(queries: Queries, table: string, column: string, seq: number) {
  const { rows } = await sql<{ seq: number; at: number }>`
    select seq, ${sql.ref(column)} as at from ${sql.table(table)} where seq >= ${seq} order by seq limit 1
  `.execute(queries.db)
  return rows[0]
}

async function lastSeq(queries: Queries, table: string): Promise<number> {
  const { rows } = await sql<{ seq: number }>`
    select seq from ${sql.table(table)} order by seq desc limit 1
  `.execute(queries.db)
  return rows[0]?.seq ?? 0
}
