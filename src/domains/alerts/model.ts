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

/** Internal level: 4 is the highest, 5 tells of a recovery, 0 is below INFO. */
export type AlertLevel = 0 | 1 | 2 | 3 | 4 | 5
/** The external standard, by which alerts are shown: 6 is the gravest, 0 tells of a recovery. */
export type AlertWeight = 0 | 1 | 2 | 3 | 4 | 5 | 6

interface Grade {
  readonly weight: AlertWeight
  readonly level: AlertLevel
  /** The internal level of a report that repeats the one before it. */
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

// The same table read backwards. Level 4 alone is CRITICAL and level 3 alone is ERROR, since HIGH is only passing
// through them. Level 0 and weight 1 have no row in it: they are the one thing below INFO, and bear its name.
const WEIGHT_OF_LEVEL = [1, 2, 3, 4, 6, 0] as const
const SEVERITY_OF_WEIGHT = ['CLOSE', 'INFO', 'INFO', 'WARNING', 'ERROR', 'HIGH', 'CRITICAL'] as const

export interface Alert {
  readonly id: string
  readonly alarmId: string | null
  readonly source: string
  readonly title: string
  readonly body: string
  readonly level: AlertLevel
  /** 0 as long as the alert is recovered; then its level is 5. */
  readonly weight: AlertWeight
  readonly serverAddr: string | null
  readonly status: AlertStatus
  /** How often it was reported as firing, over all its life. */
  readonly count: number
  /** When it was first and last reported. All times are epoch milliseconds, UTC. */
  readonly firstAt: number
  readonly lastAt: number
  /** Null while it fires. */
  readonly recoveredAt: number | null
}

/** What a report says of an alert. */
export interface Report {
  readonly alarmId: string | null
  readonly source: string
  readonly title: string
  readonly body: string
  readonly serverAddr: string | null
  /** A standard level, or an internal one; at least one of level and weight is given. */
  readonly level?: Severity | AlertLevel
  /** Taken from the level when it is left out. */
  readonly weight?: AlertWeight
}

/** What there is to tell of a change; `repeated` is nothing new. */
export type AlertChange = 'raised' | 'recovered' | 'repeated'

export function isSeverity(text: string): text is Severity {
  return (SEVERITIES as readonly string[]).includes(text)
}

export function severityOf(weight: AlertWeight): Severity {
  return SEVERITY_OF_WEIGHT[weight]
}

/** Every weight that bears this name. */
export function weightsOf(severity: Severity): AlertWeight[] {
  return [...SEVERITY_OF_WEIGHT.keys()].filter(
    (weight) => SEVERITY_OF_WEIGHT[weight] === severity,
  ) as AlertWeight[]
}

/**
 * What a report weighs. A weight that is stated wins over the level's, but CLOSE and level 5 recover whatever weight
 * stands beside them: the text of a recovery may well quote the weight of what is over.
 */
function weightOf({ level, weight }: Pick<Report, 'level' | 'weight'>): AlertWeight {
  if (level === undefined) return weight ?? 0
  const usual = typeof level === 'number' ? WEIGHT_OF_LEVEL[level] : GRADES[level].weight
  return usual === 0 ? 0 : (weight ?? usual)
}

/** The alert that a first report makes. */
export function firstReported(report: Report, id: string, at: number): Alert {
  const { alarmId, source, title, body, serverAddr } = report
  const { level, weight } = GRADES.CLOSE
  const silent: Alert = {
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
  return reported(silent, report, at)
}

/** The alert as it is after a report: its state and its text are those of the last one. */
export function reported(alert: Alert, report: Report, at: number): Alert {
  const { source, title, body, serverAddr } = report
  const weight = weightOf(report)
  const fires = weight > 0
  return {
    ...alert,
    source,
    title,
    body,
    serverAddr,
    level: fires ? levelOf(report.level ?? severityOf(weight), weight === alert.weight) : GRADES.CLOSE.level,
    weight,
    status: statusAfter(alert, weight),
    count: alert.count + (fires ? 1 : 0),
    lastAt: at,
    recoveredAt: fires ? null : (alert.recoveredAt ?? at),
  }
}

/** The alert as it is after somebody has declared it recovered; a frozen one is not frozen any more. */
export function recovered(alert: Alert, at: number): Alert {
  const { level, weight } = GRADES.CLOSE
  return { ...alert, level, weight, status: 'recovered', recoveredAt: alert.recoveredAt ?? at }
}

/** What has happened between two states of an alert; `before` is undefined for a new one. */
export function changeOf(before: Alert | undefined, after: Alert): AlertChange {
  if (after.status === 'frozen') return 'repeated'
  if (after.status === 'recovered') return before?.status === 'recovered' ? 'repeated' : 'recovered'
  // A recovered alert weighs 0, so firing again is a rise too.
  return after.weight > (before?.weight ?? 0) ? 'raised' : 'repeated'
}

function levelOf(level: Severity | AlertLevel, repeats: boolean): AlertLevel {
  if (typeof level === 'number') return level
  return GRADES[level][repeats ? 'repeatedLevel' : 'level']
}

function statusAfter(alert: Alert, weight: AlertWeight): AlertStatus {
  if (alert.status === 'frozen') return 'frozen'
  if (weight === 0) return 'recovered'
  // Whoever acknowledged it knew it no worse than it was.
  if (alert.status === 'acknowledged' && weight <= alert.weight) return 'acknowledged'
  return 'firing'
}
