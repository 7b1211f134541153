import { sql, type Generated, type Kysely, type SelectQueryBuilder } from 'kysely'
import { encodeValue, toSnake, statement, type QueryOf, type Statement } from './statement.ts'
import type { Capabilities } from './dialects/capabilities.ts'
import { lockRows } from './locking.ts'
import {
  pagesOf,
  type Conditions,
  type FilterOf,
  type ListQuery,
  type PageOptions,
  type ReadPage,
  type SelectedRow,
} from './pages.ts'
import type { Queries } from './store.ts'

/** Between the value that the program sees and the one that the database keeps. */
interface Codec<Value, Stored> {
  encode(value: Value): Stored
  decode(stored: Stored): Value
}

/** A column: what the program sees in it, what the database keeps in it, and whether the database fills it. */
export class Column<Value, Stored, IsGenerated extends boolean = false> {
  // Types only: never there at run time.
  declare readonly types?: { value: Value; stored: Stored }
  readonly isGenerated: IsGenerated
  readonly codec: Codec<Value, Stored> | undefined

  constructor(isGenerated: IsGenerated, codec?: Codec<Value, Stored>) {
    this.isGenerated = isGenerated
    this.codec = codec
  }

  nullable(): Column<Value | null, Stored | null, IsGenerated> {
    const { codec } = this
    const orNull = codec && {
      encode: (value: Value | null) => (value === null ? null : codec.encode(value)),
      decode: (stored: Stored | null) => (stored === null ? null : codec.decode(stored)),
    }
    return new Column(this.isGenerated, orNull)
  }
}

type AnyColumn = Column<unknown, unknown, boolean>
export type Declaration = Readonly<Record<string, AnyColumn>>

export const text = <T extends string = string>() => new Column<T, T>(false)
export const integer = <T extends number = number>() => new Column<T, T>(false)
/** An integer that the database assigns. */
export const generated = () => new Column<number, number, true>(true)
/** A truth value, kept as 0 or 1. */
export const flag = () =>
  new Column<boolean, number>(false, { encode: (value) => (value ? 1 : 0), decode: (stored) => stored === 1 })
/** Kept as JSON text. */
export const json = <T>() =>
  new Column<T, string>(false, {
    encode: (value) => JSON.stringify(value),
    decode: (stored) => JSON.parse(stored) as T,
  })

/** A column with a codec of its own. */
export const encoded = <Value, Stored>(codec: Codec<Value, Stored>) => new Column<Value, Stored>(false, codec)

/** What `version` of the row becomes by an update: `set({ …, version: NEXT_VERSION })`. */
export const NEXT_VERSION = sql<number>`version + 1`

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name
// Distributes over a union of names.
type Selected<Name extends string> = Name extends Snake<Name> ? Name : Aliased<Name>
type Aliased<Name extends string> = Name extends string ? `${Snake<Name>} as ${Name}` : never
type ValueOf<C> = C extends Column<infer Value, unknown, boolean> ? Value : never
type StoredOf<C> = C extends Column<unknown, infer Stored, boolean> ? Stored : never
type WrittenName<D extends Declaration> = {
  [Name in keyof D]: D[Name] extends Column<unknown, unknown, true> ? never : Name
}[keyof D] &
  string

/** A row as the program sees it: camelCase, decoded. */
export type RowOf<C> = C extends Columns<infer D> ? { [Name in keyof D]: ValueOf<D[Name]> } : never
/** A row as it is inserted: without what the database assigns. */
export type NewRowOf<C> = C extends Columns<infer D> ? WrittenRow<D> : never
/** The table as the query builder sees it: snake_case, encoded. */
export type TableOf<C> =
  C extends Columns<infer D> ? { [Name in keyof D & string as Snake<Name>]: TableColumn<D[Name]> } : never

type WrittenRow<D extends Declaration> = { [Name in WrittenName<D>]: ValueOf<D[Name]> }
type StoredRow<D extends Declaration> = { [Name in keyof D]: StoredOf<D[Name]> }
type TableColumn<C> = C extends Column<unknown, infer Stored, true> ? Generated<Stored> : StoredOf<C>
type ColumnValues<D extends Declaration, Name extends keyof D & string> = {
  [Each in Name as Snake<Each>]: StoredOf<D[Each]>
}
type GetValue<Row> = <Name extends keyof Row & string>(name: Name) => Row[Name]

/**
 * The columns of one table, each named once, in camelCase. From them come the lists that queries are built of, so a
 * statement's rows have the program's names already and nothing is renamed while it runs.
 */
export class Columns<D extends Declaration> {
  /** Every column, for `select` and `returning`. */
  readonly all: Selected<keyof D & string>[]
  /** The names of every column in the database, for `insert into … select`. */
  readonly names: Snake<keyof D & string>[]
  readonly #declaration: D
  readonly #decoded: readonly [name: string, decode: (stored: unknown) => unknown][]

  constructor(declaration: D) {
    this.#declaration = declaration
    const names = Object.keys(declaration) as (keyof D & string)[]
    this.all = this.pick(...names)
    this.names = names.map(toSnake) as Snake<keyof D & string>[]
    this.#decoded = names.flatMap((name) => {
      const codec = declaration[name]?.codec
      return codec ? [[name, (stored: unknown) => codec.decode(stored)] as const] : []
    })
  }

  /** Some columns, for `select` and `returning`. */
  pick<Name extends keyof D & string>(...names: Name[]): Selected<Name>[] {
    return names.map((name) => {
      const column = toSnake(name)
      return (column === name ? name : `${column} as ${name}`) as Selected<Name>
    })
  }

  /** Every column but these, for `select` and `returning`. */
  except<Name extends keyof D & string>(...names: Name[]): Selected<Exclude<keyof D & string, Name>>[] {
    const all = Object.keys(this.#declaration) as (keyof D & string)[]
    return this.pick(...all.filter((name) => !names.includes(name as Name))) as never
  }

  /** What `insert` takes: every column except the ones that the database assigns. */
  values(value: GetValue<WrittenRow<D>>): ColumnValues<D, WrittenName<D>> {
    return this.set(value, ...this.#writtenNames())
  }

  /** What `update` sets: the named columns. */
  set<Name extends WrittenName<D>>(
    value: GetValue<Pick<WrittenRow<D>, Name>>,
    ...names: Name[]
  ): ColumnValues<D, Name> {
    const entries = names.map((name) => {
      const codec = this.#declaration[name]?.codec
      return [toSnake(name), codec ? encodeValue(value(name), codec.encode) : value(name)]
    })
    return Object.fromEntries(entries)
  }

  #writtenNames(): WrittenName<D>[] {
    const names = Object.keys(this.#declaration) as WrittenName<D>[]
    return names.filter((name) => !this.#declaration[name]?.isGenerated)
  }

  /** Decodes the row in place; a table without encoded columns has no need of it. */
  readonly decode = <R extends Partial<StoredRow<D>>>(
    row: R,
  ): { [Name in keyof R]: Name extends keyof D ? ValueOf<D[Name]> : R[Name] } => {
    const record = row as Record<string, unknown>
    for (const [name, decode] of this.#decoded) if (name in record) record[name] = decode(record[name])
    return record as never
  }
}

export function defineColumns<D extends Declaration>(declaration: D): Columns<D> {
  return new Columns(declaration)
}

// oxlint-disable-next-line typescript/no-explicit-any -- the columns of any table
type AnyColumns = Columns<any>
// oxlint-disable-next-line typescript/no-explicit-any -- a query on any table
type Lockable<R> = SelectQueryBuilder<any, any, R>
type DatabaseOf<T> = { [Name in keyof T]: TableOf<T[Name]> }
type Parameter<P> = <K extends keyof P & string>(name: K) => P[K]

/** The tables of one domain: their names, and queries that are typed by them and see no others. */
interface Schema<T extends Readonly<Record<string, AnyColumns>>> {
  readonly names: readonly (keyof T & string)[]
  /** The query builder for these tables. */
  db(queries: Queries): Kysely<DatabaseOf<T>>
  /** A prepared statement on these tables; see {@link statement}. */
  statement<P extends object, R = never>(
    build: (db: Kysely<DatabaseOf<T>>, parameter: Parameter<P>, capabilities: Capabilities) => QueryOf<R>,
  ): Statement<P, R>
  /** A query as two prepared statements: as it is, and with its rows locked until the end of the transaction. */
  lockable<P extends object, R>(
    build: (db: Kysely<DatabaseOf<T>>, parameter: Parameter<P>) => Lockable<R>,
  ): readonly [find: Statement<P, R>, lock: Statement<P, R>]
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
    lockable: (build) => [
      statement(build as never),
      statement(
        (db, value, capabilities) =>
          build(db as never, value).$call(lockRows(capabilities)) as QueryOf<never>,
      ),
    ],
    pages: pagesOf,
  }
}
