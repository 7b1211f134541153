import type { ApiFailure } from '../api/operations.ts'
import { localNumber } from '../i18n/local.ts'
import { defineWords } from '../i18n/language.ts'

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
    fault_required: 'This field is required.',
    fault_pattern: 'It is too long, or has a character that is not allowed.',
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
    fault_required: '此字段为必填项。',
    fault_pattern: '内容过长，或包含不允许的字符。',
  },
})

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
  const words = failureWords()
  if (message === 'is required') return words.fault_required
  // The pattern itself helps nobody; the hint of the field says what is allowed.
  return message?.startsWith('must match pattern') ? words.fault_pattern : message
}
