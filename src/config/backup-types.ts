import { readlinkSync } from 'node:fs'
import { isTimeZone } from '../kernel/time.ts'
import { resolvePath, valueType, type ValueType } from './value-types.ts'

interface ListOptions<T> {
  readonly name: string
  readonly expected: string
  parseItem(text: string, cwd: string): T | undefined
  readonly mayBeEmpty?: boolean
}

/** A list whose items may contain commas: an array in TOML; in the environment a JSON array, or texts with commas between. */
function arrayOf<T extends string>({ name, expected, parseItem, mayBeEmpty = true }: ListOptions<T>) {
  return valueType<readonly T[]>({
    name,
    expected: mayBeEmpty ? `${expected}, or none` : expected,
    toml: 'array',
    parse(text, cwd) {
      const items = itemsIn(text)?.map((item) => parseItem(item, cwd))
      if (!items?.every((item) => item !== undefined)) return undefined
      return items.length > 0 || mayBeEmpty ? items : undefined
    },
    format: (items) => (items.length === 0 ? 'none' : JSON.stringify(items)),
  })
}

function itemsIn(text: string): string[] | undefined {
  if (text === 'none' || text === '') return []
  if (!text.startsWith('[')) return text.split(',').map((item) => item.trim())
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
  } catch {
    return undefined
  }
}

export const pathList = arrayOf({
  name: 'list of paths',
  expected: 'a list of paths',
  parseItem: resolvePath,
})

export const globList = arrayOf({
  name: 'list of globs',
  expected:
    'a list of absolute paths with a directory below / before the first wildcard, without .. and open brackets',
  parseItem: (text) => (mediaGlobProblem(text) === undefined ? text : undefined),
})

export const argumentList = arrayOf({
  name: 'list of arguments',
  expected: 'a program and its arguments, as a list of texts',
  parseItem: (text) => (text === '' || text.includes('\0') ? undefined : text),
  mayBeEmpty: false,
})

export const recipientList = arrayOf({
  name: 'list of keys',
  expected: 'a list of age public keys (age1…)',
  parseItem: (text) => (/^age1[a-z0-9]{20,4000}$/.test(text) ? text : undefined),
})

/** Some of the names, in the order of `names`, each once. */
export function someOf<const T extends string>(names: readonly T[]): ValueType<readonly T[]> {
  const list = arrayOf({
    name: 'list',
    expected: `a list without repetition of ${names.join(', ')}`,
    parseItem: (text) => names.find((name) => name === text),
  })
  return {
    ...list,
    parse(text, cwd) {
      const chosen = list.parse(text, cwd)
      return chosen && new Set(chosen).size === chosen.length ? chosen : undefined
    },
  }
}

const KIBIBYTE = 1_024
const UNITS = {
  B: 1,
  kB: 1_000,
  MB: 1_000 ** 2,
  GB: 1_000 ** 3,
  KiB: KIBIBYTE,
  MiB: KIBIBYTE ** 2,
  GiB: KIBIBYTE ** 3,
} as const

/** Bytes, written `64MiB`, `10MB` or as a number. */
export function byteCount({ maximum }: { readonly maximum: string }): ValueType<number> {
  return valueType({
    name: 'size',
    expected: `a number of bytes such as 64MiB or 10MB, from 1 to ${maximum}`,
    toml: 'string or number',
    parse(text) {
      const bytes = parseBytes(text)
      return bytes !== undefined && bytes >= 1 && bytes <= (parseBytes(maximum) ?? 0) ? bytes : undefined
    },
    format: formatBytes,
  })
}

function parseBytes(text: string): number | undefined {
  const [, digits, unit = 'B'] = /^(\d{1,15})([kKMG]i?B|B)?$/.exec(text) ?? []
  return digits === undefined || !isUnit(unit) ? undefined : Number(digits) * UNITS[unit]
}

function isUnit(text: string): text is keyof typeof UNITS {
  return Object.hasOwn(UNITS, text)
}

function formatBytes(bytes: number): string {
  const unit = (['GiB', 'MiB', 'KiB'] as const).find((name) => bytes % UNITS[name] === 0)
  return unit ? `${bytes / UNITS[unit]}${unit}` : String(bytes)
}

/** What the textfile collector of node_exporter reads. */
export const metricsPath = valueType({
  name: 'path',
  expected: 'a path that ends in .prom',
  parse: (text, cwd) => (text.endsWith('.prom') ? resolvePath(text, cwd) : undefined),
})

/** `HH:MM` */
export const timeOfDay = valueType({
  name: 'time',
  expected: 'a time of the day such as 02:00, from 00:00 to 23:59',
  parse: (text) => (/^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text) ? text : undefined),
})

// The default of `payments.time_zone`, and what most servers have.
const USUAL_ZONES = ['Asia/Shanghai', 'UTC']

export const timeZone = valueType({
  name: 'time zone',
  expected: 'the IANA name of a time zone, such as Europe/Berlin or UTC',
  parse(text) {
    // An offset is no name: it does not know daylight saving time, and systemd does not know it.
    if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return undefined
    // `Intl`, which knows all others, takes 8 MB with its first use.
    if (USUAL_ZONES.includes(text) || text === linkedTimeZone()) return text
    return isTimeZone(text) ? text : undefined
  },
})

// localtime(5): a link to the file of the zone, whose path ends with its name
const LOCAL_TIME = '/etc/localtime'
const ZONE = /\/zoneinfo\/(?:posix\/|right\/)?([A-Za-z][A-Za-z0-9_+/-]*)$/

/** The IANA name of the time zone of this process; `variable` is `TZ` of its environment. */
export function systemTimeZone(variable: string | undefined): string {
  // To ask `Intl` alone takes as long as to read all other settings.
  const linked = variable === undefined ? linkedTimeZone() : undefined
  return linked ?? new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** The zone that {@link LOCAL_TIME} links to; undefined where it is not a link to a zone. */
export function linkedTimeZone(): string | undefined {
  try {
    return ZONE.exec(readlinkSync(LOCAL_TIME))?.[1]
  } catch {
    return undefined
  }
}

const MAX_PREFIX = 200

export const urlPrefix = valueType({
  name: 'path of a URL',
  expected: 'the beginning of paths on the drive, such as /adrive/v1.0',
  parse: (text) =>
    text.length <= MAX_PREFIX && /^\/[A-Za-z0-9._~/-]*$/.test(text)
      ? text.replace(/(?<!\/)\/+$/, '')
      : undefined,
})

const WILDCARD = /[*?[\]{}!()\\]/

/** What is wrong with a glob of `backup.media_globs`; undefined for a good one. */
export function mediaGlobProblem(glob: string): string | undefined {
  if (!glob.startsWith('/')) return 'must be an absolute path'
  const segments = segmentsOf(glob)
  if (segments.includes('..')) return 'must not contain ..'
  if (glob.includes('\0')) return 'must not contain a null character'
  if (segments.length < 2 || isWildcard(segments[0] ?? ''))
    return 'must name a directory below / before its first wildcard'
  if (segments.some((each) => !isBalanced(each))) return 'must not contain / inside of braces or brackets'
  return undefined
}

/** The parts of a glob between its slashes. */
export function segmentsOf(glob: string): string[] {
  return glob.split('/').filter((each) => each !== '' && each !== '.')
}

/** Whether a segment stands for more than one name. */
export function isWildcard(segment: string): boolean {
  return WILDCARD.test(segment)
}

/** A brace or bracket that is not closed in its segment would match something else than the whole glob does. */
function isBalanced(segment: string): boolean {
  const count = (character: string) => segment.split(character).length
  return count('{') === count('}') && count('[') === count(']')
}
