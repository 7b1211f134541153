import { UNEXPLAINED, type ApiFailure } from '../api/operations.ts'
import { defineWords, language } from '../i18n/language.ts'
import { localNumber } from '../i18n/local.ts'
import { ACCESS_REASONS, FAILURES, FAULTS, type Rewording } from './platform-sentences.ts'

const failureWords = defineWords({
  en: {
    rateLimited: (seconds: string) => `Too many requests. Try again in ${seconds} s.`,
    unexplained: (status: number) => `The server answered with status ${status}.`,
    noPage: 'There is no such page of the list. “Newest” leads to the first one.',
    /** Between the parts of a reason. */
    between: '; ',
  },
  zh: {
    rateLimited: (seconds) => `请求过多，请在 ${seconds} 秒后重试。`,
    unexplained: (status) => `服务器返回状态 ${status}。`,
    noPage: '列表没有此页。点击“最新”前往第一页。',
    between: '；',
  },
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
export function describeFault(message: string): string
export function describeFault(message: string | undefined): string | undefined
export function describeFault(message: string | undefined): string | undefined {
  return message === undefined ? undefined : reworded(message, FAULTS)
}

/** Why a user may run a command or not, in the language of the reader. */
export function describeAccess(because: string): string {
  const parts = because.split('; ').map((part) => reworded(part, ACCESS_REASONS))
  return parts.join(failureWords().between)
}

function reworded(message: string, rewordings: typeof FAULTS): string {
  for (const [pattern, rewording] of rewordings) {
    const match = pattern.exec(message)
    if (match)
      return wordsOf(rewording)?.replaceAll(/\$(\d)/g, (_, group) => localGroup(match[group])) ?? message
  }
  return message
}

function wordsOf(rewording: Rewording | undefined): string | undefined {
  return rewording?.[language.value]
}

/** What a pattern has captured: a number, or words. */
function localGroup(text = ''): string {
  return /^\d+$/.test(text) ? localNumber(Number(text)) : text
}
