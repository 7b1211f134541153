import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'
import { sortedLabels } from './intake/labels.ts'
import { severityOf, type AlertView } from './model.ts'

/** Values by their names. */
export type LabelValues = Readonly<Record<string, string>>

/** What a label must be, or must not be: a text, or what a regular expression (RE2) matches as a whole. */
export interface LabelMatcher {
  readonly name: string
  readonly value: string
  readonly isRegex: boolean
  /** `false` inverts it. */
  readonly isEqual: boolean
}

/** The labels with which an alert was sent, else those that its fields stand for (docs/specification.md, Prometheus and Alertmanager). */
export function labelsOf(
  alert: Pick<AlertView, 'labels' | 'title' | 'source' | 'alarmId' | 'serverAddr' | 'weight'>,
): LabelValues {
  if (alert.labels !== null) return JSON.parse(alert.labels) as LabelValues
  const { title, source, alarmId, serverAddr, weight } = alert
  return {
    alertname: title,
    ...(alarmId !== null && { alarm_id: alarmId }),
    ...(serverAddr !== null && { server_addr: serverAddr }),
    severity: severityOf(weight).toLowerCase(),
    source,
  }
}

/** Whether all matchers match; a label that is missing is empty. */
export function matchesLabels(matchers: readonly LabelMatcher[], labels: LabelValues): boolean {
  return matchers.every((matcher) => matchesText(matcher, valueOf(labels, matcher.name)))
}

export function matchesText({ value, isRegex, isEqual }: LabelMatcher, text: string): boolean {
  return (isRegex ? compile(value).testExact(text) : value === text) === isEqual
}

/** The value of a label. Names that JavaScript objects inherit, such as `constructor`, are not labels. */
export function valueOf(labels: LabelValues, name: string): string {
  return Object.hasOwn(labels, name) ? (labels[name] ?? '') : ''
}

// The time to match a text is at most its length times the number of instructions, and compiling takes milliseconds.
const MAX_PATTERN = 1_024
const MAX_COUNTS = 100
const MAX_INSTRUCTIONS = 1_000
// A compiled pattern may use up to 8 MiB.
const CACHED_PATTERNS = 32

const compiled = new LRUCache<string, RE2JS>({ max: CACHED_PATTERNS })

/** Why a text cannot be used as a regular expression; undefined if it can. */
export function patternFault(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return `it has more than ${MAX_PATTERN} characters`
  const counts = [...pattern.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/g)]
  const sum = counts.reduce((total, [, least, most]) => total + Number(most || least), 0)
  if (sum > MAX_COUNTS) return `its counts ({n}) are more than ${MAX_COUNTS} together`
  try {
    if (compile(pattern).programSize() <= MAX_INSTRUCTIONS) return undefined
    return `it has more than ${MAX_INSTRUCTIONS} instructions`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern)
  if (known) return known
  // As Prometheus compiles it: a dot matches the end of a line too.
  const compilation = RE2JS.compile(pattern, RE2JS.DOTALL)
  compiled.set(pattern, compilation)
  return compilation
}

const MATCHER = /^([A-Za-z_:][\w:]*)\s*(=~|!~|!=|=)(.*)$/s
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' }

/** Reads a matcher as Alertmanager writes it, `name=~"value"`; a text says what is wrong. */
export function parseMatcher(text: string): LabelMatcher | string {
  const [, name, operator, rest = ''] = MATCHER.exec(text.trim()) ?? []
  if (name === undefined || operator === undefined) return 'must be a matcher such as alertname="DiskFull"'
  const operand = rest.trim()
  const isQuoted = operand.startsWith('"')
  if (isQuoted && !/^"(?:[^"\\]|\\.)*"$/s.test(operand))
    return 'must end with the quotation mark of its value'
  const inner = isQuoted ? operand.slice(1, -1) : operand
  const value = inner.replaceAll(/\\(.)/gs, (escape, character: string) => ESCAPES[character] ?? escape)
  const isRegex = operator.endsWith('~')
  const fault = isRegex ? patternFault(value) : undefined
  if (fault !== undefined) return `has a regular expression that cannot be used: ${fault}`
  return { name, value, isRegex, isEqual: operator.startsWith('=') }
}

const [OFFSET_HIGH, OFFSET_LOW] = [0xcb_f2_9c_e4, 0x84_22_23_25]
// The prime is 2^40 + 435.
const PRIME_LOW = 435
const SEPARATOR = 0xff

/** The id of an alert in an Alertmanager: FNV-1a of 64 bits over its labels, sorted bytewise. */
export function fingerprintOf(labels: LabelValues): string {
  let [high, low] = [OFFSET_HIGH, OFFSET_LOW]
  const add = (byte: number) => {
    low = (low ^ byte) >>> 0
    const product = low * PRIME_LOW
    high = (high * PRIME_LOW + Math.floor(product / 2 ** 32) + ((low << 8) >>> 0)) % 2 ** 32
    low = product % 2 ** 32
  }
  for (const part of sortedLabels(labels).flat()) {
    for (const byte of Buffer.from(part)) add(byte)
    add(SEPARATOR)
  }
  return [high, low].map((half) => half.toString(16).padStart(8, '0')).join('')
}
