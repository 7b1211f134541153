import { nextRun } from '../install/index.ts'
import { writeMetricsFile } from '../metrics-file.ts'
import { localTime } from '../night/local-time.ts'
import { nightOf, type BackupState } from '../night/state.ts'
import type { BackupParts } from '../parts.ts'

/** Writes the metrics, if a file is configured for them. */
export function updateMetrics({ config, state, runtime, logger }: BackupParts): void {
  const { textfile, server, timeZone, windowStart, windowEnd, retryEveryMs } = config.backup
  if (textfile === undefined) return
  const now = runtime.clock.now()
  const { date } = localTime(now, timeZone)
  const window = { start: windowStart, end: windowEnd, retryEveryMs }
  const numbers = { server, nextRunAt: nextRun(now, timeZone, window), ...numbersOf(state.read(), date) }
  const problem = writeMetricsFile(textfile, numbers)
  if (problem !== undefined) logger.warn({}, problem)
}

function numbersOf(state: BackupState, date: string) {
  const { run, lastSuccess, drill, lastPassedDrillAt, freedBytes = {} } = state
  return {
    lastSuccessAt: lastSuccess?.at,
    lastStartAt: run?.startedAt,
    sizeBytes: lastSuccess?.size,
    stepDurationsMs: run?.durations ?? {},
    failures: nightOf(state, date).failures,
    errorCode: run?.status === 'failed' ? run.failure?.errorCode : undefined,
    freedBytes,
    drill: drill && {
      endedAt: drill.endedAt,
      passed: drill.passed,
      lastPassAt: lastPassedDrillAt,
      rtoSeconds: drill.rtoSeconds,
      rpoSeconds: drill.rpoSeconds,
    },
  }
}
