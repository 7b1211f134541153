import { UNEXPLAINED, type ApiFailure, type FieldFault } from '../api/operations.ts'
import { defineWords, language } from '../i18n/language.ts'
import { localNumber } from '../i18n/local.ts'
import { FAILURES, FAULTS, type Rewording } from './platform-sentences.ts'

const failureWords = defineWords({
  rateLimited: [
    (seconds: string) => `Too many requests. Try again in ${seconds} s.`,
    (seconds) => `请求过多，请在 ${seconds} 秒后重试。`,
  ],
  unexplained: [
    (status: number) => `The server answered with status ${status}.`,
    (status) => `服务器返回状态 ${status}。`,
  ],
  noPage: [
    'There is no such page of the list. “Newest” leads to the first one.',
    '列表没有此页。点击“最新”前往第一页。',
  ],
})

// One minute, when the platform does not say how long.
const DEFAULT_PAUSE_SECONDS = 60

/** A failure in the language of the reader; in the words of the platform if the console has no others. */
export function describeFailure(failure: ApiFailure): string {
  const { status, code, message, details, retryAfterSeconds } = failure
  if (code === 'rate_limited')
    return failureWords().rateLimited(localNumber(retryAfterSeconds ?? DEFAULT_PAUSE_SECONDS))
  if (code === UNEXPLAINED) return failureWords().unexplained(status)
  // An address may be older than the list, or mistyped.
  if (details.some(({ path }) => path === 'cursor')) return failureWords().noPage
  const rewording = Object.hasOwn(FAILURES, code) ? FAILURES[code] : undefined
  return wordsOf(rewording) ?? message
}

/** A fault of one field in the language of the reader; in the words of the platform if the console has no others. */
export function describeFault({ code, message, values = {} }: FieldFault): string {
  const known: Readonly<Record<string, Rewording>> = FAULTS
  const wordCode = values['minimum'] === 1 && EMPTY.includes(code) ? 'required' : code
  const words = Object.hasOwn(known, wordCode) ? wordsOf(known[wordCode]) : undefined
  return words === undefined ? message : withValues(words, values)
}

/** The sentence with the values in it, as the reader writes numbers. */
export function withValues(sentence: string, values: Readonly<Record<string, unknown>>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (_, name: string) => localValue(values[name]))
}

/** A minimum of one means that the value must not be empty. */
const EMPTY = ['too_short', 'too_few_items']

function localValue(value: unknown = ''): string {
  if (typeof value === 'number') return localNumber(value)
  return Array.isArray(value) ? value.join(', ') : String(value)
}

function wordsOf(rewording: Rewording | undefined): string | undefined {
  return rewording?.[language.value]
}
