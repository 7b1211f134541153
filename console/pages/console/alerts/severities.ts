import { VALUES } from '../../../api/generated.ts'
import type { Translations } from '../../../i18n/language.ts'

/** The severities of alerts that fire, the most severe first. The values of the API also have CLOSE, which is a recovery. */
export const FIRING_SEVERITIES = VALUES.explainAlertRoute.severity.filter((severity) => severity !== 'CLOSE')

/** Apart from the other words of alerts, because every page can show a notice of an alert. */
export const SEVERITY_WORDS = {
  CRITICAL: ['Critical', '严重'],
  HIGH: ['High', '高'],
  ERROR: ['Error', '错误'],
  WARNING: ['Warning', '警告'],
  INFO: ['Info', '信息'],
  CLOSE: ['Closed', '已关闭'],
} satisfies Readonly<Record<string, Translations<string>>>
