import { hasForbiddenVariable } from '../kernel/alerts.ts'
import { describeValue, type Problem } from './config-error.ts'
import type { Environment } from './env.ts'
import type { TableReader, ValueReader } from './table-reader.ts'

/** The alerts of a night that may have texts of their own (docs/specification.md, Nightly backup). */
export const NIGHT_ALERT_NAMES = [
  'backup.start',
  'backup.done',
  'backup.failed',
  'backup.failed.critical',
  'backup.retry',
  'backup.clean',
  'system.reboot.init',
  'system.reboot.blocked',
  'system.selfcheck.failed',
] as const

/** The variables of their texts. */
export const ALERT_VARIABLES = [
  'backup_id',
  'job_name',
  'backup_type',
  'backup_status',
  'backup_size',
  'source_path',
  'target_path',
  'backup_time',
  'last_success_time',
  'error_code',
  'backup_window_start',
  'server_name',
  'recovery_time',
  'previous_level',
  'recovery_reason',
] as const

/** The texts of an alert. A text that is left out is the built-in one. */
export interface AlertTemplate {
  readonly title?: string
  readonly body?: string
}

/** By the name of the alert. */
export type AlertTemplates = Readonly<Partial<Record<string, AlertTemplate>>>

/** One text with its place, for people. */
export interface TemplateText {
  readonly alert: string
  readonly part: 'title' | 'body'
  readonly text: string
  readonly source: string
}

const MAX_LENGTH = 4_096
const PARTS = ['title', 'body'] as const
// The end is optional, so that a variable without one is found as well.
const VARIABLE = /\$\{([^{}]*)(\}?)/g

const templateText: ValueReader<string> = {
  expected: `a text of 1 to ${MAX_LENGTH} characters with these variables only: ${ALERT_VARIABLES.map((name) => `\${${name}}`).join(', ')}`,
  read: (value) => (typeof value === 'string' && isAlertTemplate(value) ? value : undefined),
}

/** Whether an alert may have this text. */
export function isAlertTemplate(text: string): boolean {
  if (text.trim() === '' || text.length > MAX_LENGTH || hasForbiddenVariable(text)) return false
  const names: readonly string[] = ALERT_VARIABLES
  return [...text.matchAll(VARIABLE)].every(([, name = '', end]) => end === '}' && names.includes(name))
}

/** Reads the table `[backup.templates."<alert>"]`. */
export function parseTemplate(alert: string, entry: TableReader): TemplateText[] {
  if (!(NIGHT_ALERT_NAMES as readonly string[]).includes(alert)) {
    entry.reportExpected([], `the name of an alert in quotes: ${NIGHT_ALERT_NAMES.join(', ')}`)
    return []
  }
  entry.refuseOthers(...PARTS)
  return PARTS.flatMap((part) => {
    const text = entry.read(part, templateText)
    return text === undefined ? [] : [{ alert, part, text, source: entry.place(part).source }]
  })
}

/** The texts of the environment, such as `BACKUP_TEMPLATES_BACKUP_FAILED_TITLE`, which beat those of the file. */
export function environmentTemplates(env: Environment, problems: Problem[]): TemplateText[] {
  const places = NIGHT_ALERT_NAMES.flatMap((alert) => PARTS.map((part) => ({ alert, part })))
  return places.flatMap((place) => {
    const name = `BACKUP_TEMPLATES_${place.alert.replaceAll('.', '_')}_${place.part}`.toUpperCase()
    const text = env[name]
    if (text === undefined || text === '') return []
    const source = `environment ${name}`
    if (isAlertTemplate(text)) return [{ ...place, text, source }]
    const { expected } = templateText
    problems.push({ source, key: templateKey(place), expected, got: describeValue(text) })
    return []
  })
}

export function templateKey({ alert, part }: Pick<TemplateText, 'alert' | 'part'>): string {
  return `backup.templates."${alert}".${part}`
}

/** Collects the texts by the name of the alert; of two texts for the same place the later one counts. */
export function groupTemplates(texts: readonly TemplateText[]): AlertTemplates {
  const templates: Record<string, AlertTemplate> = {}
  for (const { alert, part, text } of texts) templates[alert] = { ...templates[alert], [part]: text }
  return templates
}
