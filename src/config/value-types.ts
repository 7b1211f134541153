import { resolve } from 'node:path'
import { Secret } from '../kernel/secret.ts'
import { formatDuration, parseDuration } from '../kernel/time.ts'
import { isGuessable } from './guessable-secrets.ts'

/** How a setting is read from an environment variable and from TOML, and printed. */
export interface ValueType<T> {
  /** For the reference: one or two words. */
  readonly name: string
  /** Completes the sentence "expected …". */
  readonly expected: string
  /** The value, or undefined when the text is none of this type. Relative paths start at `cwd`. */
  fromText(text: string, cwd: string): T | undefined
  fromToml(value: unknown, cwd: string): T | undefined
  /** As it is shown to people: without secrets. */
  format(value: T): string
}

interface TextType<T> {
  readonly name: string
  readonly expected: string
  readonly parse: (text: string, cwd: string) => T | undefined
  readonly format: (value: T) => string
}

/** A type that is written as a string in TOML too. */
export function textType<T>({ name, expected, parse, format }: TextType<T>): ValueType<T> {
  return {
    name,
    expected,
    fromText: parse,
    fromToml: (value, cwd) => (typeof value === 'string' ? parse(value, cwd) : undefined),
    format,
  }
}

interface ListType<T> {
  readonly name: string
  readonly expected: string
  readonly parse: (items: readonly string[]) => T | undefined
  readonly format: (value: T) => string
}

/** A list: comma separated in a string, or an array of strings in TOML. */
export function listType<T>({ name, expected, parse, format }: ListType<T>): ValueType<T> {
  const fromText = (text: string): T | undefined => parse(text.split(',').map((item) => item.trim()))
  const fromToml = (value: unknown): T | undefined => {
    if (typeof value === 'string') return fromText(value)
    return isTextList(value) ? parse(value) : undefined
  }
  return { name, expected, fromText, fromToml, format }
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** Every item parsed, or undefined when one of them cannot be. */
export function parseEach<T>(
  items: readonly string[],
  parse: (item: string) => T | undefined,
): T[] | undefined {
  const parsed = items.map(parse)
  return parsed.every((item) => item !== undefined) ? parsed : undefined
}

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
])

export const flag: ValueType<boolean> = {
  name: 'boolean',
  expected: 'true or false (in the environment also 1 or 0)',
  fromText: (text) => FLAGS.get(text.toLowerCase()),
  fromToml: (value) => (typeof value === 'boolean' ? value : undefined),
  format: String,
}

export interface Range {
  readonly minimum: number
  readonly maximum: number
}

export function integer({ minimum, maximum }: Range): ValueType<number> {
  const inRange = (value: number): number | undefined =>
    Number.isInteger(value) && value >= minimum && value <= maximum ? value : undefined
  return {
    name: 'integer',
    expected: `an integer from ${minimum} to ${maximum}`,
    fromText: (text) => (/^\d{1,15}$/.test(text) ? inRange(Number(text)) : undefined),
    fromToml: (value) => (typeof value === 'number' ? inRange(value) : undefined),
    format: String,
  }
}

/** Milliseconds, written `30s`, `15m`, `2h`, `7d`. */
export function duration({ minimum, maximum }: Range): ValueType<number> {
  return textType({
    name: 'duration',
    expected: `a duration such as 30s, 15m, 2h or 7d, from ${formatDuration(minimum)} to ${formatDuration(maximum)}`,
    parse(text) {
      const milliseconds = parseDuration(text)
      if (milliseconds === undefined || milliseconds < minimum || milliseconds > maximum) return undefined
      return milliseconds
    },
    format: formatDuration,
  })
}

/** The absolute form of a path, undefined for what no file can be called. */
export function resolvePath(text: string, cwd: string): string | undefined {
  return text === '' || text.includes('\0') ? undefined : resolve(cwd, text)
}

export const path: ValueType<string> = textType({
  name: 'path',
  expected: 'a path',
  parse: resolvePath,
  format: String,
})

export function choice<const T extends string>(options: readonly T[]): ValueType<T> {
  return textType({
    name: options.join(', '),
    expected: `one of ${options.join(', ')}`,
    parse: (text) => options.find((option) => option === text),
    format: String,
  })
}

export const name: ValueType<string> = textType({
  name: 'name',
  expected: '1 to 253 letters, digits, dots, hyphens or underscores',
  parse: (text) => (/^[A-Za-z0-9._-]{1,253}$/.test(text) ? text : undefined),
  format: String,
})

export function secretText(minimumBytes: number): ValueType<Secret> {
  return textType({
    name: 'secret',
    expected: `a secret of at least ${minimumBytes} ${minimumBytes === 1 ? 'byte' : 'bytes'}`,
    parse: (text) => (Buffer.byteLength(text) >= minimumBytes ? new Secret(text) : undefined),
    format: String,
  })
}

/** The key of a signature: long enough, and none that is tried first. */
export function signingKey(minimumBytes: number): ValueType<Secret> {
  const { fromText, expected } = secretText(minimumBytes)
  return textType({
    name: 'secret',
    expected: `${expected} that nobody would guess (run: openssl rand -base64 48)`,
    parse: (text, cwd) => (isGuessable(text) ? undefined : fromText(text, cwd)),
    format: String,
  })
}

/** What one process can do; also the order in which modules are started. */
export const MODULES = ['api', 'gateway', 'worker'] as const
export type ModuleName = (typeof MODULES)[number]

export const moduleList: ValueType<readonly ModuleName[]> = listType({
  name: 'list',
  expected: `all, or a list without repetition of ${MODULES.join(', ')}`,
  parse: parseModules,
  format: (modules) => modules.join(','),
})

function parseModules(items: readonly string[]): readonly ModuleName[] | undefined {
  if (items.length === 1 && items[0] === 'all') return MODULES
  const named = MODULES.filter((module) => items.includes(module))
  return named.length > 0 && named.length === items.length ? named : undefined
}
