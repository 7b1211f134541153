import { signal } from '@preact/signals'
import type { AnswerOf } from '../../../api/operations.ts'
import { language } from '../../../i18n/language.ts'
import { withValues } from '../../../parts/failure-words.ts'

type Finding = AnswerOf<'getDoctorReport'>['findings'][number]

type ChineseFindings = (typeof import('./doctor-findings-zh.ts'))['DOCTOR_FINDINGS_ZH']

const chineseFindings = signal<ChineseFindings | null>(null)

/** Loads the Chinese words, which only their readers need; what the doctor says is in English until then. */
export async function loadChineseFindings(): Promise<void> {
  if (chineseFindings.peek() !== null) return
  const { DOCTOR_FINDINGS_ZH } = await import('./doctor-findings-zh.ts')
  chineseFindings.value = DOCTOR_FINDINGS_ZH
}

interface DoctorSentences {
  readonly lang: 'en' | 'zh'
  /** Undefined where it is that of the platform: a path, an address, a setting, or a name. */
  readonly subject: string | undefined
  readonly detail: string
  readonly remedy: string | null
}

/** What the doctor has found, and what to do: in Chinese by the code, in English, and for a code of a newer platform, in its words. */
export function doctorSentences({
  detail,
  remedy,
  cause,
}: Pick<Finding, 'detail' | 'remedy' | 'cause'>): DoctorSentences {
  const chinese = language.value === 'zh' ? chineseFindings.value : null
  if (cause === null || chinese === null || !Object.hasOwn(chinese, cause.code))
    return { lang: 'en', subject: undefined, detail, remedy }
  const words = chinese[cause.code]
  return {
    lang: 'zh',
    subject: words.subject,
    detail: withValues(words.detail, cause.values),
    remedy: withValues(words.remedy, cause.values),
  }
}
