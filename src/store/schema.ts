import type { Kysely } from 'kysely'
import type { Columns, TableOf } from './columns.ts'
import type { Capabilities } from './dialects/capabilities.ts'
import {
  pagesOf,
  type Conditions,
  type FilterOf,
  type ListQuery,
  type PageOptions,
  type ReadPage,
  type SelectedRow,
} from './pages.ts'
import { statement, type QueryOf, type Statement } from './statement.ts'
import type { Queries } from './store.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- the columns of any table
type AnyColumns = Columns<any>
type DatabaseOf<T> = { [Name in keyof T]: TableOf<T[Name]> }
type Parameter<P> = <K extends keyof P & string>(name: K) => P[K]

/** The tables of one domain: their names, and queries that are typed by them and see no others. */
export interface Schema<T extends Readonly<Record<string, AnyColumns>>> {
  readonly names: readonly (keyof T & string)[]
  /** The query builder for these tables. */
  db(queries: Queries): Kysely<DatabaseOf<T>>
  /** A prepared statement on these tables; see {@link statement}. */
  statement<P extends object, R = never>(
    build: (db: Kysely<DatabaseOf<T>>, parameter: Parameter<P>, capabilities: Capabilities) => QueryOf<R>,
  ): Statement<P, R>
  /** A list of the rows of one of these tables; see {@link pagesOf}. */
  pages<Name extends keyof T & string, Q extends ListQuery, C extends Conditions<Q>>(
    options: PageOptions<keyof C & string, Name, keyof TableOf<T[Name]> & string>,
    select: (db: Kysely<DatabaseOf<T>>) => Q,
    conditions: C,
  ): ReadPage<FilterOf<C>, SelectedRow<Q>>
}

/** Declares the tables of a domain, each by its name in the database. */
export function schemaOf<T extends Readonly<Record<string, AnyColumns>>>(tables: T): Schema<T> {
  return {
    names: Object.keys(tables),
    db: ({ db }) => db as never,
    statement: (build) => statement(build as never),
    pages: pagesOf,
  }
}
