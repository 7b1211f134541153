import { NIGHT_ALERTS, NIGHT_WEIGHTS, type NightEvent, type NightLevel } from './events.ts'
import type { AlertTemplates } from '../../../src/config/backup-templates.ts'
import { renderTemplate } from './templates.ts'
import { redactForbiddenVariables } from '../../../src/kernel/alerts.ts'
import { firstBytes, singleLine, type AlertVariables } from './variables.ts'

/** The body of `POST /alerts/report`. */
export interface AlertReport {
  readonly source: string
  readonly title: string
  readonly body: string
  readonly level: NightLevel
  readonly server_addr: string
}

/** The parts that all reports of a server have in common. */
export interface ReportOrigin {
  readonly source: string
  readonly serverAddr: string
  /** By the name of the alert. */
  readonly templates: AlertTemplates
}

/** One event of a night. */
export interface NightReport {
  readonly event: NightEvent
  readonly variables: AlertVariables
  /** Lines after the text of the template: what each step freed, the gate, the failed checks. */
  readonly details?: readonly string[]
}

// The platform's limits (docs/specification.md, Alerts).
const TITLE_LENGTH = 256
const BODY_BYTES = 16 * 1_024
const ADDRESS_LENGTH = 256
const DETAIL_LENGTH = 1_000

/** The report of an event. The first line of its body names weight and alert, whatever the template says. */
export function alertReport(
  { event, variables, details = [] }: NightReport,
  origin: ReportOrigin,
): AlertReport {
  const { alarmId, level, ...builtIn } = NIGHT_ALERTS[event]
  const { title, body } = { ...builtIn, ...origin.templates[alarmId] }
  const lines = [
    `weight=${NIGHT_WEIGHTS[level]} alarm_id=${alarmId}`,
    renderTemplate(body, variables),
    ...details.map((detail) => singleLine(detail, DETAIL_LENGTH)),
  ]
  return {
    source: origin.source,
    title: singleLine(
      redactForbiddenVariables(singleLine(renderTemplate(title, variables), TITLE_LENGTH)),
      TITLE_LENGTH,
    ),
    body: firstBytes(redactForbiddenVariables(lines.join('\n')).toWellFormed(), BODY_BYTES),
    level,
    server_addr: singleLine(origin.serverAddr, ADDRESS_LENGTH),
  }
}
