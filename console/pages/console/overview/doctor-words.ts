import { signal } from '@preact/signals'
import type { AnswerOf } from '../../../api/operations.ts'
import { language } from '../../../i18n/language.ts'
import { localTime } from '../../../i18n/local.ts'
import { withValues } from '../../../parts/failure-words.ts'
import type { DOCTOR_FINDINGS_ZH, FindingWords } from './doctor-findings-zh.ts'

type Finding = AnswerOf<'getDoctorReport'>['findings'][number]

const chineseFindings = signal<typeof DOCTOR_FINDINGS_ZH | null>(null)

/** Loads the Chinese words, which only their readers need; what the doctor says is in English until then. */
export async function loadChineseFindings(): Promise<void> {
  if (chineseFindings.peek() !== null) return
  const loaded = await import('./doctor-findings-zh.ts')
  chineseFindings.value = loaded.DOCTOR_FINDINGS_ZH
}

interface DoctorSentences {
  readonly lang: 'en' | 'zh'
  /** Undefined where it is that of the platform: a path, an address, a setting, or a name. */
  readonly subject: string | undefined
  readonly detail: string
  readonly remedy: string | null
}

/** A finding of the doctor and its remedy: in Chinese by its code; in English, and for a code that this console does not know, in the words of the platform. */
export function doctorSentences({
  detail,
  remedy,
  cause,
}: Pick<Finding, 'detail' | 'remedy' | 'cause'>): DoctorSentences {
  const chinese = language.value === 'zh' ? chineseFindings.value : null
  if (cause === null || chinese === null || !Object.hasOwn(chinese, cause.code))
    return { lang: 'en', subject: undefined, detail: withLocalTimes(detail, cause), remedy }
  const words = chinese[cause.code]
  return {
    lang: 'zh',
    subject: words.subject,
    detail: withLocalTimes(withValues(words.detail, cause.values), cause),
    remedy: withValues(words.remedy, { ...cause.values, ...remedyFor(words, cause.values) }),
  }
}

// RFC 3339 in UTC, as the platform writes every time.
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** Only where a whole value is a time: one in a command stays as the command needs it. */
function withLocalTimes(detail: string, cause: Finding['cause']): string {
  const times = Object.values(cause?.values ?? {})
    .map(String)
    .filter((value) => TIME.test(value))
  return times.reduce((text, time) => text.replace(time, () => localTime(time)), detail)
}

/** The remedy that one of several values of a finding names; that of the platform for a newer one. */
function remedyFor({ remedies = {} }: FindingWords, values: NonNullable<Finding['cause']>['values']) {
  const code = String(values['remedyCode'])
  return Object.hasOwn(remedies, code) ? { remedy: withValues(String(remedies[code]), values) } : {}
}
