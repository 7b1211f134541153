import { sql, type RawBuilder, type Kysely, type SelectQueryBuilder } from 'kysely'
import {
  mapPage,
  NEWEST_FIRST,
  pageOf,
  positionOf,
  requireList,
  type Page,
  type PageOrder,
  type PagePosition,
  type PageRequest,
  type SortValue,
} from '../kernel/page.ts'
import { CreatedRanges } from './created-range.ts'
import type { Capabilities } from './dialects/capabilities.ts'
import { inOrder, inOrderOfNames } from './page-order.ts'
import { statement, toSnake, type Database, type Statement } from './statement.ts'
import type { Reads } from './store.ts'

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

// oxlint-disable-next-line typescript/no-explicit-any -- a query on any table
export type AnyQuery = SelectQueryBuilder<any, any, any>
/** A query on any table, whose rows have the number that the database assigns. */
// oxlint-disable-next-line typescript/no-explicit-any -- a query on any table
export type ListQuery = SelectQueryBuilder<any, any, { seq: number }>
export type SelectedRow<Q> = Q extends SelectQueryBuilder<infer _DB, infer _TB, infer R> ? R : never

/** Adds the condition of one filter member to a query. `value` is a placeholder, or for a literal the value itself. */
type Condition<Q> = (query: Q, value: never, capabilities: Capabilities) => AnyQuery
export type Conditions<Q> = Readonly<Record<string, Condition<Q>>>

/**
 * The values that a list is filtered by. A member that is missing or undefined does not restrict the list. A member may have
 * several values: the list has the rows that match one of them. No row may match two, and each is searched with its own index,
 * so several states of a list are as fast as one.
 */
export type FilterOf<C> = {
  readonly [Name in keyof C]?: C[Name] extends (query: never, value: infer V, capabilities: never) => unknown
    ? V | readonly V[] | undefined
    : never
}

/** The filter of a list that is declared with `pages`. */
export type ListFilter<List> = List extends (reads: Reads, filter: infer F, page: never) => unknown
  ? F
  : never

/** Reads one page of the rows that match a filter. */
export type ReadPage<F, R, Item = R> = (
  reads: Reads,
  filter: F,
  page: PageRequest<keyof R & string>,
) => Promise<Page<Item>>

/** The filters with one value for each member. */
function singleFilters(filter: object): readonly object[] {
  const several = Object.entries(filter).find(([, value]) => Array.isArray(value))
  if (!several) return [filter]
  const [name, values] = several
  return [...new Set(values as unknown[])].flatMap((value) => singleFilters({ ...filter, [name]: value }))
}

export interface PageOptions<Name extends string, Table = string, Column = string> {
  readonly table: Table
  /** The column with the time of creation, for a list that can be restricted to a time range; see {@link CreatedRanges}. */
  readonly createdAt?: Column
  /**
   * Members of the filter whose conditions get the value itself instead of a placeholder. This is necessary if the value
   * decides which condition is added. It is also necessary if a partial index compares the column with a literal (then
   * write `sql.lit(value)`): with a parameter SQLite cannot use the index, and plans the statement again at each execution.
   * Each value needs a separate statement, so it must be one of a small fixed set.
   */
  readonly literals?: readonly Name[]
  /**
   * The size of a row in bytes ({@link sizeOf}), for a list of which a thousand of the largest rows are more than 8 MiB. A
   * page of it has one row, or rows of up to 1 MiB: it ends early, and the rows behind it are not read.
   */
  readonly size?: RawBuilder<number>
}

/**
 * Declares a list that is read in pages. The result is a function of the filter and of the requested page:
 *
 * ```ts
 * const listOrders = pages(
 *   { table: 'orders', createdAt: 'created_at', literals: ['status'] },
 *   (on) => on.selectFrom('orders').select(orders.all),
 *   {
 *     status: (query, status: OrderStatus) => query.where('status', '=', sql.lit(status)),
 *     platform: (query, platform: string) => query.where('platform', '=', platform),
 *   },
 * )
 * const { items, next } = await listOrders(store.read, { platform: 'live' }, { limit: 100 })
 * ```
 *
 * `select` returns the query without its filter. It must select `seq`, and every other key of an order, under the camelCase
 * name. `conditions` contains one condition for each filter member. The time range, the position, the order and the limit
 * come from the requested page.
 *
 * There is one prepared statement for each combination of filter members and order: building and compiling a query for each
 * page would take a large part of the time of the page. So `select` and the conditions must be pure, and a condition must
 * not examine its value unless the member is one of `literals`. `decode` makes an item of a row; left out, the rows are the
 * items.
 */
export function pagesOf<DB, Q extends ListQuery, C extends Conditions<Q>, Item = SelectedRow<Q>>(
  options: PageOptions<keyof C & string>,
  select: (db: Kysely<DB>) => Q,
  conditions: C,
  decode?: (row: SelectedRow<Q>) => Item,
): ReadPage<FilterOf<C>, SelectedRow<Q>, Item> {
  const statements = new PageStatements(options, select as Select, conditions as never)
  return async (reads, filter, page) => {
    const rows = await statements.read(reads, filter, page)
    return (decode ? mapPage(rows, decode as (row: Row) => Item) : rows) as Page<Item>
  }
}

type Select = (db: Database) => AnyQuery
type Values = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, SortValue>>
type Rows<R> = Statement<[values: Values], R>

class PageStatements {
  readonly #list: string
  readonly #literals: readonly string[]
  readonly #ranges: CreatedRanges | undefined
  readonly #select: Select
  readonly #conditions: Conditions<AnyQuery>
  readonly #size: RawBuilder<number> | undefined
  readonly #statements = new Map<string, Rows<Row>>()
  readonly #sizes = new Map<string, Rows<RowSize>>()

  constructor(options: PageOptions<string>, select: Select, conditions: Conditions<AnyQuery>) {
    const { table, createdAt, literals = [], size } = options
    this.#list = table
    this.#literals = literals
    this.#size = size
    this.#ranges = createdAt === undefined ? undefined : new CreatedRanges(table, createdAt)
    this.#select = select
    this.#conditions = { ...conditions, ...(createdAt !== undefined && rangeConditions(createdAt)) }
  }

  async read(reads: Reads, filter: object, page: PageRequest<string>): Promise<Page<Row>> {
    const { order = NEWEST_FIRST, after, limit } = page
    requireList(after, this.#list)
    const range = await this.#ranges?.find(reads, page)
    const shape = this.#shapeOf(singleFilters(filter), { ...range, ...positionValues(after) }, order, after)
    const { values } = shape
    const rows = this.#statements.getOrInsertComputed(shape.key, () => this.#build(this.#select, shape))
    const part = this.#size && (await this.#partOf(this.#size, reads, shape, limit))
    if (!part)
      return pageOf(await reads.run(rows, [{ ...values, limit: limit + 1 }]), limit, order, this.#list)
    const items = await reads.run(rows, [{ ...values, limit: part }])
    return { items, next: positionOf(items.at(-1), order, this.#list) }
  }

  /** The number of rows if the size ends the page; undefined if the limit or the end of the list does. */
  async #partOf(
    size: RawBuilder<number>,
    reads: Reads,
    shape: Shape,
    limit: number,
  ): Promise<number | undefined> {
    // Rows of several filters are put in order after they were selected.
    const keys = shape.parts.length > 1 ? shape.order.keys : []
    const select: Select = (db) =>
      this.#select(db)
        .clearSelect()
        .select([...keys.map(({ name }) => sql.ref(toSnake(name)).as(name)), size.as('bytes')])
    const statement = this.#sizes.getOrInsertComputed(shape.key, () => this.#build(select, shape))
    const sizes = await reads.run(statement, [{ ...shape.values, limit: limit + 1 }])
    // As JSON a text takes up to six times its bytes: an answer has at most 8 MiB (docs/specification.md, HTTP API).
    const count = countWithin(sizes, BATCH_BYTES)
    return count < Math.min(sizes.length, limit) ? count : undefined
  }

  #shapeOf(
    filters: readonly object[],
    shared: Values,
    order: PageOrder,
    after: PagePosition | null | undefined,
  ): Shape {
    const parts = filters.map((filter): Values => ({ ...filter, ...shared }))
    const isNull = after?.values.map((value) => value === null)
    const members = parts.map((values) =>
      this.#filteredBy(values).map((name) => (this.#isLiteral(name) ? [name, values[name]] : name)),
    )
    const values = Object.assign({}, ...parts.map((filters, part) => valuesOf(filters, part)))
    return { key: JSON.stringify([order.name, isNull, members]), parts, values, order, isNull }
  }

  /** The names of the conditions that have a value. */
  #filteredBy(values: Values): string[] {
    return Object.keys(this.#conditions).filter((name) => values[name] !== undefined)
  }

  #build<R>(select: Select, { parts, order, isNull }: Shape): Rows<R> {
    return statement<[values: Values], R>(({ db, capabilities }, all) => {
      const limit = all['limit'] as number
      const partOf = (values: Values, part: number) => {
        const valueOf = (name: string) => all[partName(name, part)]
        let query = select(db)
        for (const name of this.#filteredBy(values)) {
          const operand = this.#isLiteral(name) ? values[name] : valueOf(name)
          query = this.#conditions[name]?.(query, operand as never, capabilities) ?? query
        }
        const position = isNull?.map((isKeyNull, key) =>
          isKeyNull ? null : (valueOf(keyName(key)) as SortValue),
        )
        return inOrder(query, order, capabilities, position).limit(limit)
      }
      const [first, ...others] = parts.map(partOf)
      if (!first) throw new Error('A list needs a filter, which may be empty.')
      if (others.length === 0) return first
      const rowsOf = (query: AnyQuery) => db.selectFrom(query.as('part')).selectAll()
      const union = others.reduce((queries, query) => queries.unionAll(rowsOf(query)), rowsOf(first))
      return inOrderOfNames(db.selectFrom(union.as('parts')).selectAll(), order, capabilities).limit(limit)
    })
  }

  #isLiteral(name: string): boolean {
    return this.#literals.includes(name)
  }
}

/** What the text of a query depends on; queries with the same key have the same text. */
interface Shape {
  readonly key: string
  /** The values of each filter. */
  readonly parts: readonly Values[]
  /** The values of all filters, under the names that the query has for them. */
  readonly values: Values
  readonly order: PageOrder
  /** Which values of the position are null. */
  readonly isNull: readonly boolean[] | undefined
}

/** The values of a position, under names that no member of a filter has. */
function positionValues(after: PagePosition | null | undefined): Values {
  return Object.fromEntries((after?.values ?? []).map((value, index) => [keyName(index), value]))
}

/** The name of a value of one of several filters. */
function partName(name: string, part: number): string {
  return part === 0 ? name : `${name} ${part}`
}

function valuesOf(values: Values, part: number): Values {
  if (part === 0) return values
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [partName(name, part), value]))
}

function keyName(index: number): string {
  return `key ${index}`
}

/** The condition for each bound of a time range. */
function rangeConditions(column: string): Conditions<AnyQuery> {
  return {
    createdFrom: (query, time: number) => query.where(column, '>=', time),
    firstSeq: (query, seq: number) => query.where('seq', '>=', seq),
    createdTo: (query, time: number) => query.where(column, '<', time),
    endSeq: (query, seq: number) => query.where('seq', '<', seq),
  }
}

/**
 * The condition of a list that one of the columns contains a text. Capital and small letters of ASCII are the same; others as
 * the database compares them. No index helps: the list reads rows until its page is full, so it is read with `readsAside`.
 */
export function contains(...columns: readonly string[]) {
  return (query: AnyQuery, text: string, { positionIn }: Capabilities) => {
    const found = columns.map((column) => sql`${positionIn}(lower(${sql.ref(column)}), lower(${text})) > 0`)
    return query.where(sql<boolean>`(${sql.join(found, sql` or `)})`)
  }
}
