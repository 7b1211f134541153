import { closestMatch } from 'leven'
import { inspect } from 'node:util'
import { REDACTED } from '../kernel/secret.ts'
import { printable } from '../kernel/text.ts'

/** One error in the configuration. */
export interface Problem {
  /** Where the value comes from: `file platform.toml:12`, `environment TOKEN_TTL`, `option --module`. */
  readonly source: string
  /** The dotted key, empty when the problem is the file as a whole. */
  readonly key: string
  /** Completes the sentence "expected …". */
  readonly expected: string
  /** The value that was given; left out where it may be a secret. */
  readonly got?: string | undefined
}

/** The configuration cannot be used. The message has one line for each problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(problemLine).join('\n'))
    this.problems = problems
  }
}

function problemLine({ source, key, expected, got }: Problem): string {
  const place = key === '' ? source : `${source}: ${key}`
  return printable(`${place}: expected ${expected}${got === undefined ? '' : `, got ${got}`}`)
}

const LONGEST_GOT = 80

/** A value for an error line: short, and without the login of an address. */
export function describeValue(value: unknown): string {
  const text = withoutLogin(valueText(value))
  return text.length > LONGEST_GOT ? `${text.slice(0, LONGEST_GOT)}…` : text
}

function withoutLogin(text: string): string {
  const start = text.indexOf('//')
  const end = text.lastIndexOf('@')
  return start < 0 || end < start ? text : `${text.slice(0, start)}//${REDACTED}${text.slice(end)}`
}

function valueText(value: unknown): string {
  if (typeof value === 'string' || Array.isArray(value)) return JSON.stringify(value)
  if (value instanceof Date) return `the date ${value.toISOString()}`
  return typeof value === 'object' ? 'a table' : inspect(value)
}

// A key is shorter; the time of the comparison grows with the product of both lengths.
const LONGEST_WORD = 64

/** `, did you mean …?` when candidates are close to the word, else nothing. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  if (word.length > LONGEST_WORD) return ''
  const misplaced = candidates.filter((candidate) => candidate.endsWith(`.${word}`))
  const maxDistance = Math.min(3, Math.floor(word.length / 3))
  const close = misplaced.length > 0 ? misplaced : (closestMatch(word, candidates, { maxDistance }) ?? [])
  return close.length === 0 ? '' : `, did you mean ${[close].flat().join(' or ')}?`
}
