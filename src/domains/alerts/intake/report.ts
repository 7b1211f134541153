import { redactForbiddenVariables } from '../../../kernel/alerts.ts'
import { BODY_BYTES, isRunbookUrl, TITLE_LENGTH, type Report, type Severity } from '../model.ts'
import { sanitizeBody, sanitizeText } from '../text.ts'
import { alarmIdOf, labelOf, labelText, type AlertLabels } from './labels.ts'

/** An alert of Prometheus, after its checks. */
export interface PrometheusAlert {
  /** At least one. */
  readonly labels: AlertLabels
  readonly annotations: Readonly<Record<string, string>>
  /** Since when it fires; undefined for the time of its arrival. */
  readonly startsAt: number | undefined
  /** Where its sender shows what has raised it. */
  readonly generatorUrl?: string
  /** When the alert ends unless it is sent again; in the past: when it ended. */
  readonly endsAt: number | undefined
  /** Whether the sender says that it has ended, whatever the times say. */
  readonly isResolved: boolean
}

/** When an alert was received, and what ends it if it has no end. */
export interface Arrival {
  readonly now: number
  /** How long it fires after it was sent last. */
  readonly fireForMs: number
  /** The group that it came with. */
  readonly groupId?: string | undefined
}

const SOURCE_LENGTH = 128
const ADDRESS_LENGTH = 256
// Labels are read with each of their alerts, and matched; more than these have only the labels of a report.
const LABEL_BYTES = 4_096
const DEFAULT_SOURCE = 'prometheus'
const DEFAULT_TITLE = 'Alert without a name'

/** The severities by the label `severity`; any other value, and none, is a WARNING. */
const SEVERITIES: ReadonlyMap<string | undefined, Severity> = new Map<string, Severity>([
  ['critical', 'CRITICAL'],
  ['high', 'HIGH'],
  ['page', 'HIGH'],
  ['error', 'ERROR'],
  ['warning', 'WARNING'],
  ['info', 'INFO'],
  ['none', 'INFO'],
  ['debug', 'INFO'],
])

/** The report of an alert (docs/specification.md, Prometheus and Alertmanager). */
export function toReport(alert: PrometheusAlert, arrival: Arrival): Report {
  const { labels, annotations } = alert
  const label = (name: string, maxCodeUnits: number) => firstText([labelOf(labels, name)], maxCodeUnits)
  return {
    alarmId: alarmIdOf(labels),
    source: label('job', SOURCE_LENGTH) ?? DEFAULT_SOURCE,
    title: firstText([annotations['summary'], labelOf(labels, 'alertname')], TITLE_LENGTH) ?? DEFAULT_TITLE,
    body: bodyOf(alert),
    serverAddr: label('instance', ADDRESS_LENGTH) ?? null,
    ...keptLabels(labels),
    ...addressIn('runbookUrl', annotations['runbook_url']),
    ...addressIn('generatorUrl', alert.generatorUrl),
    ...(alert.startsAt !== undefined && { startsAt: alert.startsAt }),
    ...stateOf(alert, arrival),
  }
}

function keptLabels(labels: AlertLabels): Pick<Report, 'labels'> {
  const text = JSON.stringify(Object.fromEntries(labels))
  return Buffer.byteLength(text) > LABEL_BYTES ? {} : { labels: text }
}

/** The address in a field. A text that is not an address is left out, and does not refuse its alert. */
function addressIn(field: 'runbookUrl' | 'generatorUrl', url: string | undefined): Partial<Report> {
  const isAllowed = url !== undefined && isRunbookUrl(url) && redactForbiddenVariables(url) === url
  return isAllowed ? { [field]: url } : {}
}

function stateOf(
  { labels, endsAt, isResolved }: PrometheusAlert,
  { now, fireForMs, groupId }: Arrival,
): Pick<Report, 'level' | 'expiresAt' | 'groupId'> {
  if (isResolved || (endsAt !== undefined && endsAt <= now)) return { level: 'CLOSE' }
  const level = SEVERITIES.get(labelOf(labels, 'severity')?.toLowerCase()) ?? 'WARNING'
  return { level, expiresAt: endsAt ?? now + fireForMs, ...(groupId !== undefined && { groupId }) }
}

function bodyOf({ labels, annotations }: PrometheusAlert): string {
  const parts = [annotations['description'], labelText(labels)].filter(
    (part) => part !== undefined && part !== '',
  )
  return sanitizeBody(parts.join('\n\n'), BODY_BYTES)
}

/** The first of the texts that is not empty when it is sanitized. */
function firstText(texts: readonly (string | undefined)[], maxCodeUnits: number): string | undefined {
  return texts.map((text = '') => sanitizeText(text, maxCodeUnits)).find((text) => text !== '')
}
