import type { ApiFailure } from '../api/operations.ts'
import { localNumber } from '../i18n/local.ts'
import { defineWords } from '../i18n/language.ts'

/** By the codes of failures. */
const failureWords = defineWords({
  en: {
    unreachable: 'The platform cannot be reached. Check your connection, then try again.',
    forbidden: 'Your roles do not allow this.',
    unauthenticated: 'Your session has ended. Sign in again.',
    rate_limited: (seconds: string) => `Too many requests. Try again in ${seconds} s.`,
    read_only: 'The platform is read-only at the moment: nothing can be changed.',
    store_unavailable: 'The database does not answer at the moment. Try again.',
    internal: 'The platform failed to answer. Its log has the cause.',
    validation_failed: 'Some fields are not valid.',
  },
  zh: {
    unreachable: '无法连接到平台。请检查网络连接后重试。',
    forbidden: '您的角色无权执行此操作。',
    unauthenticated: '您的会话已结束，请重新登录。',
    rate_limited: (seconds) => `请求过多，请在 ${seconds} 秒后重试。`,
    read_only: '平台当前为只读模式，无法进行任何更改。',
    store_unavailable: '数据库暂时没有响应，请重试。',
    internal: '平台未能响应，原因见平台日志。',
    validation_failed: '部分字段无效。',
  },
})

const faultWords = defineWords({
  en: {
    required: () => 'This field is required.',
    // The pattern itself helps nobody; the hint of the field says what is allowed.
    pattern: () => 'It does not have the expected form.',
    long: (most: string) => `At most ${most} characters are allowed.`,
    short: (least: string) => `At least ${least} characters are needed.`,
    repetitive: (least: string) => `At least ${least} different characters are needed.`,
  },
  zh: {
    required: () => '此字段为必填项。',
    pattern: () => '格式不符合要求。',
    long: (most) => `最多 ${most} 个字符。`,
    short: (least) => `至少需要 ${least} 个字符。`,
    repetitive: (least) => `至少需要 ${least} 个不同的字符。`,
  },
})

/** The faults in the words of the platform, with the number that some of them name. */
const FAULTS = [
  [/^is required$/, 'required'],
  [/^must match pattern/, 'pattern'],
  [/^must not have more than (\d+) characters$/, 'long'],
  [/^must not have fewer than (\d+) characters$/, 'short'],
  [/^must have at least (\d+) different characters$/, 'repetitive'],
] as const

// One minute, when the platform does not say how long.
const DEFAULT_PAUSE_SECONDS = 60

/** A failure in the language of the reader, or else in the platform's own words: it has a sentence for each. */
export function describeFailure({ code, message, retryAfterSeconds }: ApiFailure): string {
  const words = failureWords()
  if (code === 'rate_limited')
    return words.rate_limited(localNumber(retryAfterSeconds ?? DEFAULT_PAUSE_SECONDS))
  return isKnown(code, words) ? words[code] : message
}

type Words = ReturnType<typeof failureWords>

function isKnown(code: string, words: Words): code is Exclude<keyof Words, 'rate_limited'> {
  return Object.hasOwn(words, code) && code !== 'rate_limited'
}

/** A fault of one field: the most common ones in the language of the reader, the others in the words of the platform. */
export function describeFault(message: string | undefined): string | undefined {
  for (const [pattern, word] of FAULTS) {
    const match = pattern.exec(message ?? '')
    if (match) return faultWords()[word](localNumber(Number(match[1] ?? 0)))
  }
  return message
}
