import { nextRun } from './install/next-run.ts'
import type { DrillNumbers, NightNumbers } from './metrics-file.ts'
import type { Schedule } from './night/schedule.ts'
import type { BackupState } from './night/state.ts'

export interface NightNumbersOptions {
  readonly server: 'primary' | 'standby'
  readonly schedule: Schedule
  readonly now: number
}

/** The numbers of the routine's metrics. */
export function nightNumbers(
  state: BackupState,
  { server, schedule, now }: NightNumbersOptions,
): NightNumbers {
  const { run, lastSuccess, freedBytes } = state
  const { windowStart: start, windowEnd: end, retryEveryMs, timeZone } = schedule
  return {
    server,
    lastSuccessAt: lastSuccess?.at,
    lastStartAt: run?.startedAt,
    sizeBytes: lastSuccess?.size,
    stepDurationsMs: run?.durations ?? {},
    failures: failuresSinceSuccess(state),
    errorCode: run?.status === 'failed' ? run.failure?.errorCode : undefined,
    freedBytes: freedBytes ?? {},
    nextRunAt: nextRun(now, timeZone, { start, end, retryEveryMs }),
    drill: drillNumbers(state),
  }
}

function failuresSinceSuccess({ nights }: BackupState): number {
  const last = nights.findLastIndex(({ succeededAt }) => succeededAt !== undefined)
  return nights.slice(last + 1).reduce((sum, { failures }) => sum + failures, 0)
}

function drillNumbers({ drill, lastPassedDrillAt }: BackupState): DrillNumbers | undefined {
  return drill && { ...drill, lastPassAt: lastPassedDrillAt }
}
