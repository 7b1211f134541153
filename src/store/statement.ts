import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import type { DialectName } from './dialects/capabilities.ts'

/** The query builder without the types of tables: those belong to the domains (`schemaOf`). */
// oxlint-disable-next-line typescript/no-explicit-any -- any table
export type Database = Kysely<any>

class Parameter {
  readonly name: string
  readonly encode: ((value: never) => unknown) | undefined

  constructor(name: string, encode?: (value: never) => unknown) {
    this.name = name
    this.encode = encode
  }

  valueIn(parameters: object): unknown {
    const value = parameters[this.name as never]
    return this.encode ? this.encode(value) : value
  }
}

/** A statement as an engine takes it: its text, and its values for one call. */
export interface BoundStatement {
  readonly text: string
  readonly values: readonly unknown[]
  /** The query builder's form of it, for drivers that go through the builder. */
  readonly query: CompiledQuery
}

/**
 * A query of fixed shape that is built and compiled once per dialect and then only given its values. The builder
 * costs ten to twenty microseconds a query, which is most of what a point read takes; a query that is built by
 * what a caller asked for stays with the builder.
 */
export interface Statement<P, R> {
  bind(dialect: DialectName, db: Database, parameters: P): BoundStatement
  /** Carries the row type; never there at run time. */
  readonly row?: R
}

type Build<P, R> = (db: Database, parameter: <K extends keyof P & string>(name: K) => P[K]) => Compilable<R>

/** `build` must be pure: `parameter(name)` stands for a value that is not known yet and must not be looked into. */
export function statement<P extends object, R = never>(build: Build<P, R>): Statement<P, R> {
  const compiled = new Map<DialectName, CompiledQuery>()
  return {
    bind(dialect, db, parameters) {
      let query = compiled.get(dialect)
      if (!query) {
        query = build(db, placeholder).compile()
        compiled.set(dialect, query)
      }
      const values = query.parameters.map((value) =>
        value instanceof Parameter ? value.valueIn(parameters) : value,
      )
      return { text: query.sql, values, query: { ...query, parameters: values } }
    },
  }
}

/** The encoded value; for a parameter of a statement, one that is encoded whenever it is bound. */
export function encodeParameter<V, E>(value: V, encode: (value: V) => E): E {
  if (value instanceof Parameter) return new Parameter(value.name, encode) as E
  return encode(value)
}

// The builder passes any object that is not an expression of its own through as a value, so the marker may claim
// the type of the value that it stands for.
function placeholder<T>(name: string): T {
  return new Parameter(name) as T
}
