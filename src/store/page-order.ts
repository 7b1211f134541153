import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import type { PageOrder, SortKey, SortValue } from '../kernel/page.ts'
import type { Capabilities } from './dialects/capabilities.ts'
import { toSnake } from './statement.ts'

/**
 * Orders the rows of a query, and keeps those after the position `after`. Its values may be placeholders, except null. If
 * no key is nullable, an index on the columns of the order makes every page equally fast, also one far into the list.
 */
export function inOrder<DB, TB extends keyof DB, R>(
  query: SelectQueryBuilder<DB, TB, R>,
  { keys }: PageOrder,
  capabilities: Capabilities,
  after?: readonly SortValue[],
): SelectQueryBuilder<DB, TB, R> {
  const columnOf = columnsOf(capabilities, toSnake)
  return orderedBy(after ? query.where(isBehind(keys, after, columnOf)) : query, keys, columnOf)
}

/** Orders the rows of a query on selected rows, whose columns have the names of the keys. */
export function inOrderOfNames<DB, TB extends keyof DB, R>(
  query: SelectQueryBuilder<DB, TB, R>,
  { keys }: PageOrder,
  capabilities: Capabilities,
): SelectQueryBuilder<DB, TB, R> {
  return orderedBy(
    query,
    keys,
    columnsOf(capabilities, (name) => name),
  )
}

function orderedBy<DB, TB extends keyof DB, R>(
  query: SelectQueryBuilder<DB, TB, R>,
  keys: readonly SortKey[],
  columnOf: ColumnOf,
): SelectQueryBuilder<DB, TB, R> {
  let ordered = query
  for (const key of keys)
    ordered = ordered.orderBy(columnOf(key), (item) => {
      const { direction, nullable } = key
      const directed = direction === 'asc' ? item.asc() : item.desc()
      return nullable ? directed.nullsLast() : directed
    })
  return ordered
}

type ColumnOf = (key: SortKey) => RawBuilder<unknown>

function columnsOf({ byBytes }: Capabilities, columnName: (name: string) => string): ColumnOf {
  return ({ name, type }) =>
    type === 'text' ? byBytes(columnName(name)) : sql.ref<SortValue>(columnName(name))
}

/** The condition of the rows after a position: by the first key, or if its value is the same, by the other keys. */
function isBehind(
  [key, ...otherKeys]: readonly SortKey[],
  [value = null, ...otherValues]: readonly SortValue[],
  columnOf: ColumnOf,
): RawBuilder<boolean> {
  if (!key) return NOTHING
  const { behind, atOrBehind } = comparisonsOf(key, value, columnOf(key))
  if (otherKeys.length === 0) return behind
  // The second part implies the first one. The first one is there because the database can search an index for its range.
  return sql`(${atOrBehind} and (${behind} or ${isBehind(otherKeys, otherValues, columnOf)}))`
}

const NOTHING = sql<boolean>`1 = 0`
const BEHIND = { asc: sql.raw('>'), desc: sql.raw('<') }
const AT_OR_BEHIND = { asc: sql.raw('>='), desc: sql.raw('<=') }

function comparisonsOf({ direction, nullable }: SortKey, value: SortValue, column: RawBuilder<unknown>) {
  // Null is last, so no value comes after it.
  if (value === null) return { behind: NOTHING, atOrBehind: sql<boolean>`${column} is null` }
  const compare = (operator: RawBuilder<unknown>) =>
    nullable
      ? sql<boolean>`(${column} ${operator} ${value} or ${column} is null)`
      : sql<boolean>`${column} ${operator} ${value}`
  return { behind: compare(BEHIND[direction]), atOrBehind: compare(AT_OR_BEHIND[direction]) }
}
