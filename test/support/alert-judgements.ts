import {
  judgeAcknowledgement,
  judgeFirst,
  judgeRecovery,
  judgeReport,
  judgeTime,
  judgeUnfreeze,
  type Judgement,
} from '../../src/domains/alerts/judgement.ts'
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

export function lastJudgement(alert: Alert, report: Report, at: number): Judgement {
  return judgeReport(alert, report, { at, actor: 'anna' }).at(-1) as Judgement
}

export function applyReport(alert: Alert, report: Report, at: number): Alert {
  return lastJudgement(alert, report, at).alert
}

export function firstAlert(report: Report): Alert {
  return judgeFirst(report, 'id', { at: 1_000, actor: 'anna' }).alert
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

function judgeStep(alert: Alert | undefined, [minute, what]: JudgedStep): Judgement[] {
  const cause = { at: minute * MINUTES, actor: 'anna' }
  if (!alert) return [judgeFirst(reportOf(what as Severity), 'id', cause)]
  if (what === 'by hand') return judgeRecovery(alert, cause)
  if (what === 'unfreeze') return judgeUnfreeze(alert, cause)
  if (what === 'acknowledge')
    return judgeAcknowledgement(alert, { until: cause.at + 240 * MINUTES, comment: null }, cause)
  return what === 'time' ? judgeTime(alert, cause.at) : judgeReport(alert, reportOf(what), cause)
}

/** The judgements of each step. */
export function judgeAll(...steps: readonly JudgedStep[]): Judgement[][] {
  let alert: Alert | undefined
  return steps.map((step) => {
    const judgements = judgeStep(alert, step)
    alert = judgements.at(-1)?.alert ?? alert
    return judgements
  })
}

export const changesOf = (judgements: readonly Judgement[]) =>
  judgements.map(({ change }) => change).join(', ')
