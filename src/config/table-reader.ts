import { describeValue, type Problem, didYouMean } from './config-error.ts'
import type { ValueType } from './value-types.ts'

/** Keys of one path, outermost first: `[auth] token_ttl = …` → `['auth', 'token_ttl']`. */
export type KeyPath = readonly string[]

/** Where an entry of the file is, for a message. */
type SourceOf = (path: KeyPath) => string

/** How a value of TOML is read: undefined if it is wrong. */
export interface ValueReader<T> {
  readonly expected: string
  read(value: unknown): T | undefined
}

export const flagReader: ValueReader<boolean> = {
  expected: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
}

/** Reads a text of TOML, or a number, as a setting of this type is read. */
export function readerOf<T>({ expected, toml, parse }: ValueType<T>): ValueReader<T> {
  return {
    expected,
    read: (value) => (typeof value === toml ? parse(String(value), process.cwd()) : undefined),
  }
}

/** The entries of one table of the file. Every fault is added to the problems of the file. */
export class TableReader {
  readonly path: KeyPath
  readonly isTable: boolean
  readonly #entries: Readonly<Record<string, unknown>>
  readonly #sourceOf: SourceOf
  readonly #problems: Problem[]
  readonly #problemsBefore: number

  constructor(path: KeyPath, value: unknown, sourceOf: SourceOf, problems: Problem[]) {
    this.path = path
    this.#sourceOf = sourceOf
    this.#problems = problems
    this.#problemsBefore = problems.length
    this.isTable = Object.prototype.toString.call(value) === '[object Object]'
    this.#entries = this.isTable ? (value as Record<string, unknown>) : {}
    if (!this.isTable) this.reportExpected([], `a table [${path.join('.')}]`, value)
  }

  get names(): string[] {
    return Object.keys(this.#entries)
  }

  /** Whether the table, or a table inside it that was read, has a fault. */
  get isFaulty(): boolean {
    return this.#problems.length > this.#problemsBefore
  }

  /** The key of an entry with its place in the file. */
  place(...inner: KeyPath): { key: string; source: string } {
    const path = [...this.path, ...inner]
    return { key: path.join('.'), source: this.#sourceOf(path) }
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
    if (value === undefined) this.reportExpected([name], expected, this.#entries[name])
    return value
  }

  /** As `read`; a missing entry is a fault, too. */
  readRequired<T>(name: string, reader: ValueReader<T>): T | undefined {
    if (this.isTable && !this.has(name)) this.reportExpected([name], reader.expected)
    return this.read(name, reader)
  }

  /** The table under this name, if there is one. */
  table(name: string): TableReader | undefined {
    return this.has(name) ? this.inner([name], this.#entries[name]) : undefined
  }

  /** A table inside this one. */
  inner(path: KeyPath, value: unknown): TableReader {
    return new TableReader([...this.path, ...path], value, this.#sourceOf, this.#problems)
  }

  requireKeys(...names: readonly string[]): void {
    for (const name of names) if (!this.has(name)) this.reportExpected([], `the key ${name}`)
  }

  refuseOthers(...known: readonly string[]): void {
    for (const name of this.names.filter((entry) => !known.includes(entry)))
      this.reportExpected([name], `a known key${didYouMean(name, known)}`)
  }

  /** Adds a problem; `expected` completes the sentence "expected …". */
  reportExpected(inner: KeyPath, expected: string, got?: unknown): void {
    this.#problems.push({
      ...this.place(...inner),
      expected,
      got: got === undefined ? undefined : describeValue(got),
    })
  }
}
