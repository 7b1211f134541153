/** What is known of an alert of the nightly backup. Times are epoch milliseconds. */
export interface NightAlertState {
  readonly id: string
  readonly isFiring: boolean
  /** The last report. */
  readonly lastAt: number
}

/** The alerts of the nightly backup; undefined for one that was never reported. */
export interface NightAlertStates {
  /** `backup.start` */
  readonly started?: NightAlertState | undefined
  /** `backup.done` */
  readonly succeeded?: NightAlertState | undefined
  /** `backup.failed` */
  readonly failed?: NightAlertState | undefined
  /** `backup.failed.critical` */
  readonly lost?: NightAlertState | undefined
}

export const NIGHT_STATUSES = ['running', 'succeeded', 'failed', 'lost'] as const

/** The last nightly backup, as it has reported itself. */
export interface Night {
  readonly status: (typeof NIGHT_STATUSES)[number]
  readonly startedAt: number | null
  /** Time of the last verified backup, which may be that of an earlier night. */
  readonly succeededAt: number | null
  /** Time of the last failure; null unless `backup.failed` fires. */
  readonly failedAt: number | null
  /** The alert that describes the failure; null unless the last night has failed. */
  readonly alertId: string | null
}

/** Null when no night was ever reported. */
export function nightOf({ started, succeeded, failed, lost }: NightAlertStates): Night | null {
  if (!started && !succeeded && !failed && !lost) return null
  const startedAt = started?.lastAt ?? null
  const succeededAt = succeeded?.lastAt ?? null
  const isRunning = startedAt !== null && startedAt > (succeededAt ?? 0)
  const status = lost?.isFiring ? 'lost' : failed?.isFiring ? 'failed' : isRunning ? 'running' : 'succeeded'
  const failure = { lost, failed, running: null, succeeded: null }[status]
  const failedAt = failed?.isFiring ? failed.lastAt : null
  return { status, startedAt, succeededAt, failedAt, alertId: failure?.id ?? null }
}
