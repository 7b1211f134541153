import { FIRING_SEVERITIES } from '../../kernel/alerts.ts'
import { HOUR } from '../../kernel/time.ts'
import type { Severity } from '../../ports/alerts.ts'

export const ALERT_STATUSES = ['firing', 'acknowledged', 'recovered', 'frozen'] as const
export type AlertStatus = (typeof ALERT_STATUSES)[number]

/** The standard levels, the most severe first. */
export const SEVERITIES = [...FIRING_SEVERITIES, 'CLOSE'] as const satisfies readonly Severity[]
export type { Severity }

/** Limits of the text of an alert. */
export const TITLE_LENGTH = 256
export const BODY_BYTES = 16 * 1024
export const COMMENT_LENGTH = 4_096
export const RUNBOOK_LENGTH = 2_048

/** Internal level: 4 is the most severe, 0 is below INFO, 5 means recovered. */
export type AlertLevel = 0 | 1 | 2 | 3 | 4 | 5
/** The external standard, by which alerts are shown: 6 is the most severe, 0 means recovered. */
export type AlertWeight = 0 | 1 | 2 | 3 | 4 | 5 | 6

interface Grade {
  readonly weight: AlertWeight
  readonly level: AlertLevel
  /** The internal level of a report that repeats it. */
  readonly repeatedLevel: AlertLevel
}

/** docs/specification.md, Alerts */
const GRADES = {
  CRITICAL: { weight: 6, level: 4, repeatedLevel: 4 },
  HIGH: { weight: 5, level: 4, repeatedLevel: 3 },
  ERROR: { weight: 4, level: 3, repeatedLevel: 3 },
  WARNING: { weight: 3, level: 2, repeatedLevel: 2 },
  INFO: { weight: 2, level: 1, repeatedLevel: 1 },
  CLOSE: { weight: 0, level: 5, repeatedLevel: 5 },
} as const satisfies Record<Severity, Grade>

// The inverse of GRADES. A bare level 4 is CRITICAL and a bare level 3 is ERROR, although HIGH also has these levels.
// Level 0 and weight 1 are not in GRADES: they are below INFO, and are shown as INFO.
const WEIGHT_OF_LEVEL = [1, 2, 3, 4, 6, 0] as const
// Level 4 also stands for HIGH, whose weight is lower than the one of a bare level 4.
const LEAST_WEIGHT_OF_LEVEL = [1, 2, 3, 4, 5, 0] as const
const SEVERITY_OF_WEIGHT = ['CLOSE', 'INFO', 'INFO', 'WARNING', 'ERROR', 'HIGH', 'CRITICAL'] as const

/** An alert as the API shows it. */
export interface AlertView {
  readonly id: string
  readonly alarmId: string | null
  readonly source: string
  readonly title: string
  readonly body: string
  readonly level: AlertLevel
  /** 0 while the alert is recovered; its level is 5 then. */
  readonly weight: AlertWeight
  readonly serverAddr: string | null
  readonly status: AlertStatus
  /** How often it was reported as firing since its first report. */
  readonly count: number
  /** Times of the first and of the last report. All times are epoch milliseconds, UTC. */
  readonly firstAt: number
  readonly lastAt: number
  /** Null while it is firing. */
  readonly recoveredAt: number | null
  /** The address (http or https) of instructions for this alert, as it was reported last; null without one. */
  readonly runbookUrl: string | null
  /** Since when it fires, or fired last, as its sender says; null if an older program has stored it. Not in the API. */
  readonly startsAt: number | null
  /** Where its sender shows what has raised it; null if it says nothing. Not in the API. */
  readonly generatorUrl: string | null
  /** The labels of the report, as JSON; null for a report without labels. Not in the API. */
  readonly labels: string | null
  /** 1 at the first report, larger after each change. */
  readonly version: number
}

/** What the rules have to remember of an alert. */
interface AlertMemory {
  /** Who reported it first, and with which weight. */
  readonly createdBy: string
  readonly firstWeight: AlertWeight
  /** Every report, recoveries included. */
  readonly reports: number
  /** Whether it was ever CRITICAL. */
  readonly wasCritical: boolean
  /** Whether HIGH was reported since the weight was last below HIGH. */
  readonly wasHigh: boolean
  /** While it is acknowledged: the weight that was acknowledged, and when the acknowledgement lapses. */
  readonly acknowledgedWeight: AlertWeight | null
  readonly acknowledgedUntil: number | null
  /** When it recovers without a report; null if it waits for one. */
  readonly expiresAt: number | null
  /** The group of an Alertmanager that keeps it from expiring; null if none does. */
  readonly groupId: string | null
  /** How long it fires until it is notified again; null if it is notified once. */
  readonly repeatEveryMs: number | null
  /** When it is notified again; null unless it is firing. */
  readonly repeatAt: number | null
  /** The swings of the last hour, oldest first; empty while it is frozen. */
  readonly swings: readonly Swing[]
  /** Null unless it is frozen. */
  readonly freeze: Freeze | null
}

/** A change between recovered (weight 0) and CRITICAL (weight 6). */
export interface Swing {
  readonly at: number
  /** The number of reports before it. */
  readonly reportsBefore: number
}

export interface Freeze {
  /** When it ends unless there is another swing. */
  readonly until: number
  /** Swings from the first of the four that caused it. */
  readonly swings: number
  /** How many reports came before the first swing. */
  readonly reportsBefore: number
}

export interface Alert extends AlertView, AlertMemory {}

/** One report of an alert. */
export interface Report {
  readonly alarmId: string | null
  readonly source: string
  readonly title: string
  readonly body: string
  readonly serverAddr: string | null
  /** A standard level, or an internal one; a report has a level, a weight or both. */
  readonly level?: Severity | AlertLevel
  /** The default is the weight of the level. */
  readonly weight?: AlertWeight
  /** When the alert recovers if it is not reported again; the default is never, for INFO after {@link NOTICE_MS}. */
  readonly expiresAt?: number
  /** The group of an Alertmanager. The alert does not expire as long as the group is reported. */
  readonly groupId?: string
  /** How long the alert fires until it is notified again; by default it is notified once. */
  readonly repeatEveryMs?: number
  /** An http or https address. */
  readonly runbookUrl?: string
  /** Since when the alert fires; the default is the time of the first report since it has recovered. */
  readonly startsAt?: number
  /** An http or https address of the sender. */
  readonly generatorUrl?: string
  /** The labels of an intake, as JSON. */
  readonly labels?: string
}

/** How long an alert of severity INFO fires after its last report. */
export const NOTICE_MS = 24 * HOUR

export function isSeverity(text: string): text is Severity {
  return (SEVERITIES as readonly string[]).includes(text)
}

/** Whether the text is an http or https address without a login, which a button of a message may lead to. */
export function isRunbookUrl(text: string): boolean {
  const url = text.length <= RUNBOOK_LENGTH ? URL.parse(text) : null
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

export function severityOf(weight: AlertWeight): Severity {
  return SEVERITY_OF_WEIGHT[weight]
}

/** Every weight with this name. */
export function weightsOf(severity: Severity): AlertWeight[] {
  return [...SEVERITY_OF_WEIGHT.keys()].filter(
    (weight) => SEVERITY_OF_WEIGHT[weight] === severity,
  ) as AlertWeight[]
}

/**
 * The weight of a report. An explicit weight overrides that of the level, except that CLOSE and level 5 always mean 0:
 * the text of a recovery may quote the weight of the alert that has ended.
 */
export function weightOf({ level, weight }: Pick<Report, 'level' | 'weight'>): AlertWeight {
  if (level === undefined) return weight ?? 0
  const weightOfLevel = typeof level === 'number' ? WEIGHT_OF_LEVEL[level] : GRADES[level].weight
  return weightOfLevel === 0 ? 0 : (weight ?? weightOfLevel)
}

/**
 * The weight that a report takes from its text: undefined if it is below the level that the report itself names, because
 * a sentence must never silence a report (docs/specification.md, Alerts).
 */
export function textWeightOf(
  level: Report['level'],
  weight: AlertWeight | undefined,
): AlertWeight | undefined {
  return weight === undefined || weight < leastWeightOf(level) ? undefined : weight
}

function leastWeightOf(level: Report['level']): AlertWeight {
  if (level === undefined) return 0
  return typeof level === 'number' ? LEAST_WEIGHT_OF_LEVEL[level] : GRADES[level].weight
}

/** The internal level of a report; HIGH has another one when it is repeated. */
export function levelOf(report: Report, weight: AlertWeight, wasHigh: boolean): AlertLevel {
  if (weight === 0) return GRADES.CLOSE.level
  const level = report.level ?? severityOf(weight)
  if (typeof level === 'number') return level
  return GRADES[level][wasHigh ? 'repeatedLevel' : 'level']
}

export const CRITICAL_WEIGHT: AlertWeight = GRADES.CRITICAL.weight

/** The level and the weight of an alert that has recovered. */
export const RECOVERED = { level: GRADES.CLOSE.level, weight: GRADES.CLOSE.weight } as const

/** When the alert changes by itself, as far as is known now; null if it waits for a report or a user. */
export function dueAt({ acknowledgedUntil, expiresAt, freeze, repeatAt }: Alert): number | null {
  const times = [acknowledgedUntil, expiresAt, freeze?.until ?? null, repeatAt].filter((at) => at !== null)
  return times.length > 0 ? Math.min(...times) : null
}

/** The roles that may report alerts. */
export const ALERT_REPORTERS = ['admin', 'service', 'devops'] as const

/** The roles that may read alerts, their decisions and their events. */
export const ALERT_READERS = ['admin', 'devops', 'auditor', 'service'] as const

/** The roles that may change alerts and silences. */
export const ALERT_OPERATORS = ['admin', 'devops'] as const

/** The events of alerts (docs/specification.md, Events); a repeated report emits none. */
export const ALERT_EVENTS = {
  raised: 'alert.raised',
  acknowledged: 'alert.acknowledged',
  recovered: 'alert.recovered',
  frozen: 'alert.frozen',
  unfrozen: 'alert.unfrozen',
} as const

export type AlertEvent = keyof typeof ALERT_EVENTS

/** An alert whose `alarm_id` ends in this inhibits the one without it (docs/specification.md, Alerts). */
const ENDING = '.critical'

/** The `alarm_id` of the alert that would inhibit this one. */
export function inhibitorIdOf({ alarmId }: Pick<Alert, 'alarmId'>): string | undefined {
  return alarmId === null ? undefined : alarmId + ENDING
}

/** The `alarm_id` of the alert that this one inhibits while it fires. */
export function inhibitedIdOf({ alarmId }: Pick<Alert, 'alarmId'>): string | undefined {
  return alarmId?.endsWith(ENDING) ? alarmId.slice(0, -ENDING.length) : undefined
}

/** Which of the alerts inhibits this one: it is of the same source, and has not recovered. */
export function inhibitorOf<T extends Pick<Alert, 'alarmId' | 'source' | 'weight'>>(
  alert: Pick<Alert, 'alarmId' | 'source'>,
  others: readonly T[],
): T | undefined {
  const id = inhibitorIdOf(alert)
  return others.find((other) => other.weight > 0 && other.alarmId === id && other.source === alert.source)
}
