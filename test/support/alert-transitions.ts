import {
  applyAcknowledgement,
  applyFirstReport,
  applyRecovery,
  applyFurtherReport,
  applyTime,
  applyUnfreeze,
  type AlertTransition,
} from '../../src/domains/alerts/transitions.ts'
import type { Alert, AlertLevel, AlertWeight, Report, Severity } from '../../src/domains/alerts/model.ts'

export function reportOf(level: Severity | AlertLevel, weight?: AlertWeight): Report {
  const texts = {
    alarmId: 'backup.failed',
    source: 'platform.backup',
    title: 'Backup failed',
    body: '',
    serverAddr: null,
  }
  return weight === undefined ? { ...texts, level } : { ...texts, level, weight }
}

export function lastTransition(alert: Alert, report: Report, at: number): AlertTransition {
  return applyFurtherReport(alert, report, { at, actor: 'anna' }).at(-1) as AlertTransition
}

export function applyReport(alert: Alert, report: Report, at: number): Alert {
  return lastTransition(alert, report, at).alert
}

export function firstAlert(report: Report): Alert {
  return applyFirstReport(report, 'id', { at: 1_000, actor: 'anna' }).alert
}

export function alertAfter(...levels: (Severity | AlertLevel)[]): Alert {
  const [first, ...rest] = levels.map((level) => reportOf(level)) as [Report, ...Report[]]
  return rest.reduce<Alert>(
    (alert, report) => applyReport(alert, report, alert.lastAt + 1_000),
    firstAlert(first),
  )
}

export function frozenAlert(): Alert {
  return alertAfter('CRITICAL', 'CLOSE', 'CRITICAL', 'CLOSE', 'CRITICAL')
}

export function acknowledgedAlert(alert: Alert): Alert {
  return { ...alert, status: 'acknowledged', acknowledgedWeight: alert.weight, acknowledgedUntil: 100_000 }
}

export const MINUTES = 60_000

/** A report or an action, and how many minutes after the first one it comes. */
export type JudgedStep = readonly [
  minute: number,
  what: Severity | 'by hand' | 'unfreeze' | 'acknowledge' | 'time',
]

function judgeStep(alert: Alert | undefined, [minute, what]: JudgedStep): AlertTransition[] {
  const cause = { at: minute * MINUTES, actor: 'anna' }
  if (!alert) return [applyFirstReport(reportOf(what as Severity), 'id', cause)]
  if (what === 'by hand') return applyRecovery(alert, cause)
  if (what === 'unfreeze') return applyUnfreeze(alert, cause)
  if (what === 'acknowledge') return applyAcknowledgement(alert, cause.at + 240 * MINUTES, null, cause)
  return what === 'time' ? applyTime(alert, cause.at) : applyFurtherReport(alert, reportOf(what), cause)
}

/** The transitions of each step. */
export function judgeAll(...steps: readonly JudgedStep[]): AlertTransition[][] {
  let alert: Alert | undefined
  return steps.map((step) => {
    const transitions = judgeStep(alert, step)
    alert = transitions.at(-1)?.alert ?? alert
    return transitions
  })
}

export const changesOf = (transitions: readonly AlertTransition[]) =>
  transitions.map(({ change }) => change).join(', ')
