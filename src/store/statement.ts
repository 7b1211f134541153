import type { Compilable, CompiledQuery, DeleteResult, InsertResult, Kysely, UpdateResult } from 'kysely'
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
export interface Statement<P, R> {
  bind(dialect: DialectName, db: Database, parameters: P): BoundStatement
  /** Carries the row type; absent at run time. */
  readonly row?: R
}

/**
 * A query of the builder whose rows are `R`; with `never` it returns none. The type of a compiled query does not have its
 * rows, that of `execute` does.
 */
export type QueryOf<R> = Compilable & { execute(): Promise<([R] extends [never] ? Change : R)[]> }

type Change = InsertResult | UpdateResult | DeleteResult

type Build<P, R> = (
  db: Database,
  parameter: <K extends keyof P & string>(name: K) => P[K],
  capabilities: Capabilities,
) => QueryOf<R>

/** `build` must be pure: `parameter(name)` is a placeholder, not a value that can be examined. */
export function statement<P extends object, R = never>(build: Build<P, R>): Statement<P, R> {
  const compiled = new Map<DialectName, CompiledQuery>()
  return {
    bind(dialect, db, parameters) {
      let query = compiled.get(dialect)
      if (!query) {
        query = build(db, placeholder, CAPABILITIES[dialect]).compile()
        compiled.set(dialect, query)
      }
      const values = query.parameters.map((value) =>
        value instanceof Parameter ? value.valueIn(parameters) : value,
      )
      return { text: query.sql, values }
    },
  }
}

// The query builder passes an unknown object through as a value, so a placeholder can have the type of its value.
function placeholder<T>(name: string): T {
  return new Parameter(name) as T
}

/** Stands for a value in a statement that is compiled before its values are known. */
class Parameter {
  readonly #name: string
  readonly #encode: ((value: unknown) => unknown) | undefined

  constructor(name: string, encode?: (value: unknown) => unknown) {
    this.#name = name
    this.#encode = encode
  }

  valueIn(parameters: object): unknown {
    const value = (parameters as Record<string, unknown>)[this.#name]
    return this.#encode ? this.#encode(value) : value
  }

  encoded(encode: (value: unknown) => unknown): Parameter {
    return new Parameter(this.#name, encode)
  }
}

/** The encoded value; a parameter is encoded when it is bound. */
export function encodeValue(value: unknown, encode: (value: unknown) => unknown): unknown {
  return value instanceof Parameter ? value.encoded(encode) : encode(value)
}

/** The name of a column in the database: `notAfter` → `not_after`. */
export function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
