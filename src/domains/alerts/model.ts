import type { Severity } from '../../ports/alerts.ts'

export const ALERT_STATUSES = ['firing', 'acknowledged', 'recovered', 'frozen'] as const
export type AlertStatus = (typeof ALERT_STATUSES)[number]

/** The standard levels, the most severe first. */
export const SEVERITIES = [
  'CRITICAL',
  'HIGH',
  'ERROR',
  'WARNING',
  'INFO',
  'CLOSE',
] as const satisfies readonly Severity[]
export type { Severity }

/** Limits of the text of an alert. */
export const TITLE_LENGTH = 256
export const BODY_BYTES = 16 * 1024

/** Internal level: 4 is the most severe, 0 is below INFO, 5 means recovered. */
export type AlertLevel = 0 | 1 | 2 | 3 | 4 | 5
/** The external standard, by which alerts are shown: 6 is the most severe, 0 means recovered. */
export type AlertWeight = 0 | 1 | 2 | 3 | 4 | 5 | 6

interface Grade {
  readonly weight: AlertWeight
  readonly level: AlertLevel
  /** The internal level of a report with the same weight as the one before it. */
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
const SEVERITY_OF_WEIGHT = ['CLOSE', 'INFO', 'INFO', 'WARNING', 'ERROR', 'HIGH', 'CRITICAL'] as const

export interface Alert {
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
}

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
}

/** The kind of a change. `raised` and `recovered` emit an event, `repeated` does not. */
export type AlertChange = 'raised' | 'recovered' | 'repeated'

export function isSeverity(text: string): text is Severity {
  return (SEVERITIES as readonly string[]).includes(text)
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
function weightOf({ level, weight }: Pick<Report, 'level' | 'weight'>): AlertWeight {
  if (level === undefined) return weight ?? 0
  const weightOfLevel = typeof level === 'number' ? WEIGHT_OF_LEVEL[level] : GRADES[level].weight
  return weightOfLevel === 0 ? 0 : (weight ?? weightOfLevel)
}

/** The alert after its first report. */
export function newAlert(report: Report, id: string, at: number): Alert {
  const { alarmId, source, title, body, serverAddr } = report
  const { level, weight } = GRADES.CLOSE
  const unreported: Alert = {
    id,
    alarmId,
    source,
    title,
    body,
    level,
    weight,
    serverAddr,
    status: 'recovered',
    count: 0,
    firstAt: at,
    lastAt: at,
    recoveredAt: null,
  }
  return applyReport(unreported, report, at)
}

/** The alert after one more report, whose state and texts it takes. */
export function applyReport(alert: Alert, report: Report, at: number): Alert {
  const { source, title, body, serverAddr } = report
  const weight = weightOf(report)
  const isFiring = weight > 0
  return {
    ...alert,
    source,
    title,
    body,
    serverAddr,
    level: isFiring
      ? levelOf(report.level ?? severityOf(weight), weight === alert.weight)
      : GRADES.CLOSE.level,
    weight,
    status: statusAfter(alert, weight),
    count: alert.count + (isFiring ? 1 : 0),
    lastAt: at,
    recoveredAt: isFiring ? null : (alert.recoveredAt ?? at),
  }
}

/** The alert after a user has declared it recovered; this also ends `frozen`. */
export function recover(alert: Alert, at: number): Alert {
  const { level, weight } = GRADES.CLOSE
  return { ...alert, level, weight, status: 'recovered', recoveredAt: alert.recoveredAt ?? at }
}

/** The kind of the change between two states of an alert; `before` is undefined for a new one. */
export function changeOf(before: Alert | undefined, after: Alert): AlertChange {
  if (after.status === 'frozen') return 'repeated'
  if (after.status === 'recovered') return before?.status === 'recovered' ? 'repeated' : 'recovered'
  // A recovered alert has weight 0, so firing again is an increase too.
  return after.weight > (before?.weight ?? 0) ? 'raised' : 'repeated'
}

function levelOf(level: Severity | AlertLevel, repeats: boolean): AlertLevel {
  if (typeof level === 'number') return level
  return GRADES[level][repeats ? 'repeatedLevel' : 'level']
}

function statusAfter(alert: Alert, weight: AlertWeight): AlertStatus {
  if (alert.status === 'frozen') return 'frozen'
  if (weight === 0) return 'recovered'
  // The acknowledgement covers only the weight that the alert had at that time.
  if (alert.status === 'acknowledged' && weight <= alert.weight) return 'acknowledged'
  return 'firing'
}
