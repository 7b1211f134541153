import { hasForbiddenVariable } from '../kernel/alerts.ts'
import { describeValue, type Problem } from './config-error.ts'
import type { Environment } from './env.ts'
import { TableReader, type SourceOf, type ValueReader } from './table-reader.ts'

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
type NightAlertName = (typeof NIGHT_ALERT_NAMES)[number]

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

/** Reads the table `[backup.templates."<alert>"]`. Its faults are added to `problems`. */
export function parseTemplate(
  alert: string,
  value: unknown,
  sourceOf: SourceOf,
  problems: Problem[],
): TemplateText[] {
  const path = ['backup', 'templates', alert]
  const entry = new TableReader(path, value, sourceOf, problems)
  if (!(NIGHT_ALERT_NAMES as readonly string[]).includes(alert)) {
    entry.fault([], `the name of an alert in quotes: ${NIGHT_ALERT_NAMES.join(', ')}`)
    return []
  }
  entry.refuseOthers(...PARTS)
  return PARTS.flatMap((part) => {
    const text = entry.read(part, templateText)
    return text === undefined ? [] : [{ alert, part, text, source: sourceOf([...path, part]) }]
  })
}

/** The texts of the environment, such as `BACKUP_TEMPLATES_BACKUP_FAILED_TITLE`, which beat those of the file. */
export function environmentTemplates(env: Environment, problems: Problem[]): TemplateText[] {
  return NIGHT_ALERT_NAMES.flatMap((alert) => PARTS.flatMap((part) => ofVariable(env, alert, part, problems)))
}

function ofVariable(
  env: Environment,
  alert: NightAlertName,
  part: TemplateText['part'],
  problems: Problem[],
): TemplateText[] {
  const name = `BACKUP_TEMPLATES_${alert.replaceAll('.', '_')}_${part}`.toUpperCase()
  const given = env[name]
  if (given === undefined || given === '') return []
  const source = `environment ${name}`
  if (isAlertTemplate(given)) return [{ alert, part, text: given, source }]
  const key = templateKey({ alert, part })
  problems.push({ source, key, expected: templateText.expected, got: describeValue(given) })
  return []
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
