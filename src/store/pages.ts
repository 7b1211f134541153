import type { Kysely, RawBuilder, SelectQueryBuilder } from 'kysely'
import {
  NEWEST_FIRST,
  pageOf,
  type Page,
  type PageOrder,
  type PagePosition,
  type PageRequest,
  type SortValue,
} from '../kernel/page.ts'
import { createdRange, rangeConditions } from './created-in.ts'
import { inOrder } from './read-page.ts'
import { statement, type Database, type Statement } from './statement.ts'
import type { Queries } from './store.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- a query on any table
export type AnyQuery = SelectQueryBuilder<any, any, any>
export type SelectedRow<Q> = Q extends SelectQueryBuilder<infer _DB, infer _TB, infer R> ? R : never

/** Adds the condition of one filter member to a query. `value` is a placeholder, or for a literal the value itself. */
type Condition<Q> = (query: Q, value: never) => AnyQuery
export type Conditions<Q> = Readonly<Record<string, Condition<Q>>>

/** The values that a list is filtered by. A member that is missing or undefined does not restrict the list. */
export type FilterOf<C> = {
  readonly [Name in keyof C]?: C[Name] extends (query: never, value: infer V) => unknown
    ? V | undefined
    : never
}

/** Reads one page of the rows that match a filter. */
export type ReadPage<F, R> = (
  queries: Queries,
  filter: F,
  page: PageRequest<keyof R & string>,
) => Promise<Page<R>>

export interface PageOptions<Name extends string> {
  readonly table: string
  /** The column with the time of creation, for a list that can be restricted to a time range. */
  readonly createdAt?: string
  /**
   * Members of the filter whose values are part of the statement's text. This is necessary if a partial index compares the
   * column with a literal: with a parameter SQLite cannot use the index, and plans the statement again at each execution.
   * Each value needs a separate statement, so it must be one of a small fixed set.
   */
  readonly literals?: readonly Name[]
}

/**
 * Reads the pages of a table with prepared statements: one for each combination of filter members and order. Building and
 * compiling a query for each page would take a large part of the time of the page.
 */
export function pagesOf<DB, Q extends AnyQuery, C extends Conditions<Q>>(
  options: PageOptions<keyof C & string>,
  select: (db: Kysely<DB>) => Q,
  conditions: C,
): ReadPage<FilterOf<C>, SelectedRow<Q>> {
  const statements = new PageStatements(options, select as Select, conditions as never)
  return (queries, filter, page) => statements.read(queries, filter, page) as Promise<Page<SelectedRow<Q>>>
}

type Select = (db: Database) => AnyQuery
type Values = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, SortValue>>

class PageStatements {
  readonly #options: PageOptions<string>
  readonly #select: Select
  readonly #conditions: Conditions<AnyQuery>
  readonly #statements = new Map<string, Statement<Values, Row>>()

  constructor(options: PageOptions<string>, select: Select, conditions: Conditions<AnyQuery>) {
    const { createdAt } = options
    this.#options = options
    this.#select = select
    this.#conditions = { ...conditions, ...(createdAt !== undefined && conditionsOfRange(createdAt)) }
  }

  async read(queries: Queries, filter: object, page: PageRequest<string>): Promise<Page<Row>> {
    const { table, createdAt } = this.#options
    const { order = NEWEST_FIRST, after, limit } = page
    const range = createdAt === undefined ? {} : await createdRange(queries, table, createdAt, page)
    const values = { ...filter, ...range, ...positionValues(after), limit: limit + 1 }
    return pageOf(await queries.run(this.#statementFor(values, order, after), values), limit, order)
  }

  #statementFor(
    values: Values,
    order: PageOrder,
    after: PagePosition | null | undefined,
  ): Statement<Values, Row> {
    const given = Object.keys(this.#conditions).filter((name) => values[name] !== undefined)
    const isNull = after?.values.map((value) => value === null)
    const members = given.map((name) => (this.#isLiteral(name) ? [name, values[name]] : name))
    const shape = JSON.stringify([order.name, isNull, members])
    return this.#statements.getOrInsertComputed(shape, () => this.#build(given, values, order, isNull))
  }

  #build(given: readonly string[], values: Values, order: PageOrder, isNull: readonly boolean[] | undefined) {
    return statement<Values, Row>((db, value) => {
      let query = this.#select(db)
      for (const name of given) {
        const operand = this.#isLiteral(name) ? values[name] : value(name)
        query = this.#conditions[name]?.(query, operand as never) ?? query
      }
      const position = isNull?.map((each, index) => (each ? null : (value(keyName(index)) as SortValue)))
      return inOrder(query, order, position).limit(value('limit') as number)
    })
  }

  #isLiteral(name: string): boolean {
    return this.#options.literals?.includes(name) ?? false
  }
}

/** The values of a position, under names that no member of a filter has. */
function positionValues(after: PagePosition | null | undefined): Values {
  return Object.fromEntries((after?.values ?? []).map((value, index) => [keyName(index), value]))
}

function keyName(index: number): string {
  return `key ${index}`
}

function conditionsOfRange(column: string): Conditions<AnyQuery> {
  const byMember: Readonly<Record<string, (value: number) => RawBuilder<boolean>>> = rangeConditions(column)
  return Object.fromEntries(
    Object.entries(byMember).map(([name, condition]) => [
      name,
      (query: AnyQuery, value: number) => query.where(condition(value)),
    ]),
  )
}
