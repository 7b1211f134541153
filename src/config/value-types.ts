import { resolve } from 'node:path'
import { Secret } from '../kernel/secret.ts'
import { formatDuration, parseDuration } from '../kernel/time.ts'

/** How the values of a setting are written, checked and printed. */
export interface ValueType<T> {
  /** One or two words for the reference. */
  readonly name: string
  /** Completes the sentence "expected …". */
  readonly expected: string
  /** The type in a TOML file; a list, but no array, may also be one string with commas. */
  readonly toml:
    | 'string'
    | 'number'
    | 'string or number'
    | 'boolean'
    | 'list'
    | 'array'
    | 'string or array'
    | 'table'
  /** The value of a text, undefined when the text is wrong. Relative paths start at `cwd`. */
  parse(text: string, cwd: string): T | undefined
  /** The first wrong item of a text that is a list, where the type can name one; the first index is 0. */
  faultyItem?(text: string): { readonly index: number; readonly expected: string } | undefined
  /** The end of the name of the setting in `Config`: `Ms` in `heartbeatMs`. */
  readonly unit?: string
  /** As people see it: without secrets. */
  format(value: T): string
}

type Options<T> = Pick<ValueType<T>, 'name' | 'expected' | 'parse'> & Partial<ValueType<T>>

export function valueType<T>(options: Options<T>): ValueType<T> {
  return { toml: 'string', format: String, ...options }
}

/** What `typeof` a single value is that is read as text, by the type of the setting in TOML. */
const TYPES_READ_AS_TEXT: Readonly<Record<ValueType<unknown>['toml'], readonly string[]>> = {
  string: ['string'],
  number: ['number'],
  'string or number': ['string', 'number'],
  boolean: ['boolean'],
  list: ['string'],
  // No text with commas, as for a list: its items may contain commas.
  array: [],
  'string or array': ['string'],
  table: [],
}

/** A value of a TOML file as the environment would have it, undefined when it has another type. */
export function textOfToml(value: unknown, { toml }: ValueType<unknown>): string | undefined {
  if (toml === 'table') return typeof value === 'object' ? JSON.stringify(value) : undefined
  if ((toml === 'array' || toml === 'string or array') && Array.isArray(value)) return JSON.stringify(value)
  // `platform config` and the errors write an empty array as none.
  if (toml === 'array' && value === 'none') return value
  if (toml === 'list' && Array.isArray(value)) {
    return value.every((item) => typeof item === 'string' && item !== '') ? value.join(',') : undefined
  }
  const isExpected = TYPES_READ_AS_TEXT[toml].includes(typeof value) && value !== ''
  return isExpected ? String(value) : undefined
}

/** Every item parsed, or undefined when one of them cannot be. */
export function parseList<T>(text: string, parse: (item: string) => T | undefined): T[] | undefined {
  const parsed = text.split(',').map((item) => parse(item.trim()))
  return parsed.every((item) => item !== undefined) ? parsed : undefined
}

/** As {@link parseList}; empty for `none`. */
export function parseListOrNone<T>(text: string, parse: (item: string) => T | undefined): T[] | undefined {
  return text === 'none' || text === '' ? [] : parseList(text, parse)
}

const FLAGS: Readonly<Record<string, boolean>> = { 1: true, true: true, 0: false, false: false }

export const trueOrFalse = valueType({
  name: 'boolean',
  expected: 'true or false (in the environment also 1 or 0)',
  toml: 'boolean',
  parse: (text) => (Object.hasOwn(FLAGS, text.toLowerCase()) ? FLAGS[text.toLowerCase()] : undefined),
})

interface Range {
  readonly minimum: number
  readonly maximum: number
}

function inRange({ minimum, maximum }: Range, value: number | undefined): number | undefined {
  return value !== undefined && value >= minimum && value <= maximum ? value : undefined
}

export function integerWithin(range: Range): ValueType<number> {
  return valueType({
    name: 'integer',
    expected: `an integer from ${range.minimum} to ${range.maximum}`,
    toml: 'number',
    parse: (text) => (/^\d{1,15}$/.test(text) ? inRange(range, Number(text)) : undefined),
  })
}

/** Milliseconds, written `30s`, `15m`, `2h`, `7d`. */
export function duration(range: Range): ValueType<number> & { readonly unit: 'Ms' } {
  const [shortest, longest] = [range.minimum, range.maximum].map(formatDuration)
  const type = valueType({
    name: 'duration',
    expected: `a duration such as 30s, 15m, 2h or 7d, from ${shortest} to ${longest}`,
    parse: (text) => inRange(range, parseDuration(text)),
    format: formatDuration,
  })
  return { ...type, unit: 'Ms' }
}

// There `mkdir` of Node.js never ends if it is to create the parents, too.
const PROC = /^\/proc(?:\/|$)/

/** The absolute path, undefined for a text that cannot be the path of a file or directory. */
export function resolvePath(text: string, cwd: string): string | undefined {
  if (text === '' || text.includes('\0')) return undefined
  const absolute = resolve(cwd, text)
  return PROC.test(absolute) ? undefined : absolute
}

export const path = valueType({ name: 'path', expected: 'a path outside of /proc', parse: resolvePath })

export function choice<const T extends string>(options: readonly T[]): ValueType<T> {
  return valueType({
    name: options.join(', '),
    expected: `one of ${options.join(', ')}`,
    parse: (text) => options.find((option) => option === text),
  })
}

export const name = valueType({
  name: 'name',
  expected: '1 to 253 letters, digits, dots, hyphens or underscores',
  parse: (text) => (/^[A-Za-z0-9._-]{1,253}$/.test(text) ? text : undefined),
})

export const secretText = valueType({
  name: 'secret',
  expected: 'a secret of at least 1 byte',
  parse: (text) => (text === '' ? undefined : new Secret(text)),
})

/** What one process can do, in the order of the start. */
export const MODULES = ['api', 'gateway', 'worker'] as const
export type ModuleName = (typeof MODULES)[number]

/** Whether a process with these modules neither opens payments nor sends notifications. */
export function isOnlyGateway(modules: readonly string[]): boolean {
  return modules.every((module) => module === 'gateway')
}

export const moduleList = valueType<readonly ModuleName[]>({
  name: 'list',
  expected: `all, or a list without repetition of ${MODULES.join(', ')}`,
  toml: 'list',
  parse(text) {
    if (text === 'all') return MODULES
    const names: readonly string[] = text.split(',').map((item) => item.trim())
    const known = MODULES.filter((module) => names.includes(module))
    return known.length === names.length ? known : undefined
  },
  format: (modules) => modules.join(','),
})
