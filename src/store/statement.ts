import type { Compilable, DeleteResult, InsertResult, Kysely, UpdateResult } from 'kysely'
import { CAPABILITIES, type Capabilities, type DialectName } from './dialects/capabilities.ts'

/** The query builder without the types of tables: those belong to the domains (`schemaOf`). */
// oxlint-disable-next-line typescript/no-explicit-any -- any table
export type Database = Kysely<any>

/** A statement as an engine takes it: its text, and its values for one call. */
export interface BoundStatement {
  readonly text: string
  readonly values: readonly unknown[]
}

/**
 * A query of fixed shape that is built and compiled once per dialect and then only given its values. The builder
 * costs ten to twenty microseconds a query, which is most of what a point read takes. For a list, whose shape depends
 * on its filter, there is `pagesOf`.
 */
export interface Statement<A extends readonly unknown[], R> {
  bind(dialect: DialectName, db: Database, args: A): BoundStatement
  /** Carries the row type; absent at run time. */
  readonly row?: R
}

/**
 * A query of the builder whose rows are `R`; with `never` it returns none. The type of a compiled query does not have its
 * rows, that of `execute` does.
 */
export type QueryOf<R> = Compilable & { execute(): Promise<([R] extends [never] ? Change : R)[]> }

/** What a statement is built with. */
export interface Builder {
  readonly db: Database
  readonly capabilities: Capabilities
}

type Change = InsertResult | UpdateResult | DeleteResult

/**
 * Declares a statement. `build` is called once for each dialect, with a placeholder for each argument. It may pass a
 * placeholder, or a member of one, to the query builder; it cannot examine its value.
 */
export function statement<A extends readonly unknown[], R = never>(
  build: (builder: Builder, ...args: A) => QueryOf<R>,
): Statement<A, R> {
  const compiled = new Map<DialectName, CompiledStatement>()
  return {
    bind(dialect, db, args) {
      let known = compiled.get(dialect)
      if (!known) {
        const placeholders: readonly unknown[] = args.map((_, index) => argumentPlaceholder(index))
        known = compile(build({ db, capabilities: CAPABILITIES[dialect] }, ...(placeholders as A)))
        compiled.set(dialect, known)
      }
      return { text: known.text, values: known.values.map((valueIn) => valueIn(args)) }
    },
  }
}

/** Finds a value of a statement in the arguments of one call. */
type ValueIn = (args: readonly unknown[]) => unknown

interface CompiledStatement {
  readonly text: string
  readonly values: readonly ValueIn[]
}

function compile(query: Compilable): CompiledStatement {
  const { sql, parameters } = query.compile()
  return { text: sql, values: parameters.map((value) => PLACEHOLDERS.get(value as object) ?? (() => value)) }
}

// The query builder passes an unknown object through as a value, so a placeholder can have the type of its value.
const PLACEHOLDERS = new WeakMap<object, ValueIn>()

function placeholder(valueIn: ValueIn, member: (name: string) => unknown): object {
  const object = new Proxy(
    {},
    {
      get: (_, name) => (typeof name === 'string' ? member(name) : undefined),
      ownKeys() {
        throw new Error('A statement is built before its values are known.')
      },
    },
  )
  PLACEHOLDERS.set(object, valueIn)
  return object
}

function argumentPlaceholder(index: number): object {
  return placeholder(
    (args) => args[index],
    (name) => memberPlaceholder((args) => (args[index] as Record<string, unknown>)[name]),
  )
}

function memberPlaceholder(valueIn: ValueIn): object {
  return placeholder(valueIn, () => undefined)
}

/** The encoded value; the value of a placeholder is encoded when it is bound. */
export function encodeValue(value: unknown, encode: (value: unknown) => unknown): unknown {
  const valueIn = PLACEHOLDERS.get(value as object)
  return valueIn ? memberPlaceholder((args) => encode(valueIn(args))) : encode(value)
}

/** The name of a column in the database: `notAfter` → `not_after`. */
export function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
