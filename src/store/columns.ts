import { sql, type Generated, type Kysely, type SelectQueryBuilder } from 'kysely'
import { encodeValue, toSnake, statement, type Database, type QueryOf } from './statement.ts'
import {
  pagesOf,
  type Conditions,
  type FilterOf,
  type ListQuery,
  type PageOptions,
  type ReadPage,
  type SelectedRow,
} from './pages.ts'
import type { RowChanges, Queries, Reads } from './store.ts'

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
  values(row: WrittenRow<D>): ColumnValues<D, WrittenName<D>> {
    return this.set(row, ...this.#writtenNames())
  }

  /** What `update` sets: the named columns. */
  set<Name extends WrittenName<D>>(row: Pick<WrittenRow<D>, Name>, ...names: Name[]): ColumnValues<D, Name> {
    const entries = names.map((name) => {
      const codec = this.#declaration[name]?.codec
      return [toSnake(name), codec ? encodeValue(row[name], codec.encode) : row[name]]
    })
    return Object.fromEntries(entries)
  }

  /** What `update` sets: every column but these, and but the ones that the database assigns. */
  setExcept<Name extends WrittenName<D>>(
    row: Pick<WrittenRow<D>, Exclude<WrittenName<D>, Name>>,
    ...names: Name[]
  ): ColumnValues<D, Exclude<WrittenName<D>, Name>> {
    const others = this.#writtenNames().filter((name) => !names.includes(name as Name))
    return this.set(row, ...(others as Exclude<WrittenName<D>, Name>[]))
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
type Build<T, A extends readonly unknown[], Q> = (db: Kysely<DatabaseOf<T>>, ...args: A) => Q
type ReadRow<A extends readonly unknown[], R> = (queries: Reads, ...args: A) => Promise<R | undefined>

/**
 * The tables of one domain: their names, and queries that are typed by them and see no others. A prepared query is a
 * function: its first argument is what runs it, the others are the values of the query. What builds it gets the query
 * builder and a placeholder for each value; see {@link statement}.
 *
 * ```ts
 * export const findOrder = readRow((on, id: string) => on.selectFrom('orders').select(orders.all).where('id', '=', id))
 * const order = await findOrder(tx, '17')
 * ```
 */
interface Schema<T extends Readonly<Record<string, AnyColumns>>> {
  readonly names: readonly (keyof T & string)[]
  /** The query builder for these tables. */
  db(queries: Queries): Kysely<DatabaseOf<T>>
  /** A query of at most one row. */
  readRow<A extends readonly unknown[], R>(build: Build<T, A, QueryOf<R>>): ReadRow<A, R>
  readRow<A extends readonly unknown[], S, R>(
    build: Build<T, A, QueryOf<S>>,
    decode: (row: S) => R,
  ): ReadRow<A, R>
  /** A query of rows. */
  readRows<A extends readonly unknown[], R>(
    build: Build<T, A, QueryOf<R>>,
  ): (queries: Reads, ...args: A) => Promise<R[]>
  readRows<A extends readonly unknown[], S, R>(
    build: Build<T, A, QueryOf<S>>,
    decode: (row: S) => R,
  ): (queries: Reads, ...args: A) => Promise<R[]>
  /** A query of at most one row, as it is and with the row locked until the end of the transaction. */
  lockable<A extends readonly unknown[], R>(
    build: Build<T, A, Lockable<R>>,
  ): readonly [find: ReadRow<A, R>, lock: ReadRow<A, R>]
  lockable<A extends readonly unknown[], S, R>(
    build: Build<T, A, Lockable<S>>,
    decode: (row: S) => R,
  ): readonly [find: ReadRow<A, R>, lock: ReadRow<A, R>]
  /** A change of at most one row: whether there is such a row. */
  changeRow<A extends readonly unknown[]>(
    build: Build<T, A, QueryOf<never>>,
  ): (queries: RowChanges, ...args: A) => Promise<boolean>
  /** A change of rows: how many it has changed. */
  changeRows<A extends readonly unknown[]>(
    build: Build<T, A, QueryOf<never>>,
  ): (queries: RowChanges, ...args: A) => Promise<number>
  /** A list of the rows of one of these tables; see {@link pagesOf}. */
  pages<Name extends keyof T & string, Q extends ListQuery, C extends Conditions<Q>, Item = SelectedRow<Q>>(
    options: PageOptions<keyof C & string, Name, keyof TableOf<T[Name]> & string>,
    select: (db: Kysely<DatabaseOf<T>>) => Q,
    conditions: C,
    decode?: (row: SelectedRow<Q>) => Item,
  ): ReadPage<FilterOf<C>, SelectedRow<Q>, Item>
}

/** Declares the tables of a domain, each by its name in the database. */
export function schemaOf<T extends Readonly<Record<string, AnyColumns>>>(tables: T): Schema<T> {
  return {
    names: Object.keys(tables),
    db: ({ db }: Queries) => db,
    readRow: rowReader,
    readRows: rowsReader,
    lockable: (build: BuildRows, decode?: Decode) => [
      rowReader(build, decode),
      rowReader((db, ...args) => (build(db, ...args) as Lockable<unknown>).forUpdate(), decode),
    ],
    changeRow(build: BuildChange) {
      const change = rowsChanger(build)
      return async (queries: RowChanges, ...args: unknown[]) => (await change(queries, ...args)) > 0
    },
    changeRows: rowsChanger,
    pages: pagesOf,
  } as never
}

type BuildRows = (db: Database, ...args: unknown[]) => QueryOf<unknown>
type BuildChange = (db: Database, ...args: unknown[]) => QueryOf<never>
type Decode = (row: unknown) => unknown

function rowsReader(build: BuildRows, decode?: Decode) {
  const query = statement(({ db }, ...args: unknown[]) => build(db, ...args))
  if (!decode) return (queries: Reads, ...args: unknown[]) => queries.run(query, args)
  return async (queries: Reads, ...args: unknown[]) => (await queries.run(query, args)).map(decode)
}

function rowReader(build: BuildRows, decode?: Decode) {
  const read = rowsReader(build, decode)
  return async (queries: Reads, ...args: unknown[]) => (await read(queries, ...args))[0]
}

function rowsChanger(build: BuildChange) {
  const query = statement(({ db }, ...args: unknown[]) => build(db, ...args))
  return (queries: RowChanges, ...args: unknown[]) => queries.change(query, args)
}
