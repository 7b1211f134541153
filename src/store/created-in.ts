import { sql, type RawBuilder } from 'kysely'
import type { PageRequest } from '../kernel/page.ts'
import { HOUR } from '../kernel/time.ts'
import type { Queries } from './store.ts'

// Rows are created in the order of `seq`, except if the clock of a process was set back.
const CLOCK_TOLERANCE_MS = HOUR

/**
 * The conditions of a list that is restricted to a time range. `column` has the time of creation. No index is needed: the
 * range of `seq` is found by binary search, so that a page does not read rows outside the range. Rows that were created
 * with a clock more than an hour off may be missing.
 */
export async function createdIn(
  queries: Queries,
  table: string,
  column: string,
  { createdFrom, createdTo }: Pick<PageRequest, 'createdFrom' | 'createdTo'>,
): Promise<readonly RawBuilder<boolean>[]> {
  const at = sql.ref(column)
  const firstSince = (time: number) => firstSeqSince(queries, table, column, time)
  const conditions: RawBuilder<boolean>[] = []
  if (createdFrom !== undefined) {
    const first = await firstSince(createdFrom - CLOCK_TOLERANCE_MS)
    conditions.push(sql`${at} >= ${createdFrom}`, sql`seq >= ${first}`)
  }
  if (createdTo !== undefined) {
    const end = await firstSince(createdTo + CLOCK_TOLERANCE_MS)
    conditions.push(sql`${at} < ${createdTo}`, sql`seq < ${end}`)
  }
  return conditions
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
