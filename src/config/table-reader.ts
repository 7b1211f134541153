import { describeValue, type Problem, didYouMean } from './config-error.ts'
import type { KeyPath } from './toml-lines.ts'

/** Where an entry of the file is, for a message. */
export type SourceOf = (path: KeyPath) => string

/** How a value of TOML is read: undefined if it is wrong. */
export interface ValueReader<T> {
  readonly expected: string
  read(value: unknown): T | undefined
}

/** The entries of one table of the file. Every fault is added to the problems of the file. */
export class TableReader {
  readonly #path: KeyPath
  readonly isTable: boolean
  readonly #entries: Readonly<Record<string, unknown>>
  readonly #sourceOf: SourceOf
  readonly #problems: Problem[]

  constructor(path: KeyPath, value: unknown, sourceOf: SourceOf, problems: Problem[]) {
    this.#path = path
    this.#sourceOf = sourceOf
    this.#problems = problems
    this.isTable = Object.prototype.toString.call(value) === '[object Object]'
    this.#entries = this.isTable ? (value as Record<string, unknown>) : {}
    if (!this.isTable) this.fault([], `a table [${path.join('.')}]`, value)
  }

  get names(): string[] {
    return Object.keys(this.#entries)
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#entries, name)
  }

  value(name: string): unknown {
    return this.has(name) ? this.#entries[name] : undefined
  }

  read<T>(name: string, { read, expected }: ValueReader<T>): T | undefined {
    if (!this.has(name)) return undefined
    const value = read(this.#entries[name])
    if (value === undefined) this.fault([name], expected, this.#entries[name])
    return value
  }

  /** The table under this name, if there is one. */
  table(name: string): TableReader | undefined {
    return this.has(name) ? this.inner(name) : undefined
  }

  inner(name: string): TableReader {
    return new TableReader([...this.#path, name], this.#entries[name], this.#sourceOf, this.#problems)
  }

  refuseOthers(...known: readonly string[]): void {
    for (const name of this.names.filter((each) => !known.includes(each)))
      this.fault([name], `a known key${didYouMean(name, known)}`)
  }

  fault(inner: KeyPath, expected: string, got?: unknown): void {
    const path = [...this.#path, ...inner]
    this.#problems.push({
      source: this.#sourceOf(path),
      key: path.join('.'),
      expected,
      got: got === undefined ? undefined : describeValue(got),
    })
  }
}
