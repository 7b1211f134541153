import { lockOwner } from '../../files/process-lock.ts'
import { alignColumns } from '../../../src/kernel/text.ts'
import { toRfc3339 } from '../../../src/kernel/time.ts'
import { nextDrill, nextRun } from '../install/index.ts'
import { localTime } from '../night/local-time.ts'
import { nightOf, type BackupState, type RunRecord } from '../night/state.ts'
import { leftOutText } from '../package/left-out.ts'
import { placesOf, type BackupParts } from '../parts.ts'
import { sizeText } from '../restore/words.ts'
import type { CommandResult } from './result.ts'

/** `platform backup status`. Sends what waits for the platform, as every command does. */
export async function backupStatus(parts: BackupParts): Promise<CommandResult> {
  const { config, state, runtime } = parts
  const { timeZone, windowStart, windowEnd, retryEveryMs } = config.backup
  const now = runtime.clock.now()
  const window = { start: windowStart, end: windowEnd, retryEveryMs }
  const stored = state.read()
  const json = {
    state: stateOf(stored, lockOwner(placesOf(config).lock) !== undefined),
    last_run: stored.run ? runJson(stored.run) : null,
    last_success: successJson(stored),
    today: todayJson(stored, localTime(now, timeZone).date),
    next_run: toRfc3339(nextRun(now, timeZone, window)),
    next_drill: toRfc3339(nextDrill(now, timeZone, window)),
    pending_reboot: timeOrNull(stored.pendingReboot?.at),
    drill: drillJson(stored),
  }
  await parts.openAlerts({ signal: runtime.signal }).deliver()
  return { exitCode: 0, text: alignColumns(rowsOf(json, stored)), json }
}

/** `idle`, `running`, `interrupted`, `failed`, or what the last run has reached. */
function stateOf({ run }: BackupState, isLocked: boolean): string {
  if (!run) return 'idle'
  if (run.status === 'running') return isLocked ? 'running' : 'interrupted'
  return run.status === 'failed' ? 'failed' : run.reached
}

function runJson({ backupId, startedAt, reached, failure, archive, remote }: RunRecord) {
  return {
    backup_id: backupId,
    started_at: toRfc3339(startedAt),
    reached,
    ...(archive && { size: archive.size }),
    ...(remote && { target_path: remote.path }),
    ...(archive?.leftOut && { left_out: archive.leftOut }),
    ...(failure && { error_code: failure.errorCode, job_name: failure.job, message: failure.message }),
  }
}

function successJson({ lastSuccess }: BackupState) {
  if (!lastSuccess) return null
  const { backupId, at, size, sha256, path, leftOut } = lastSuccess
  return {
    backup_id: backupId,
    at: toRfc3339(at),
    size,
    sha256,
    target_path: path,
    ...(leftOut && { left_out: leftOut }),
  }
}

function todayJson(state: BackupState, date: string) {
  const { failures, succeededAt, lostAt } = nightOf(state, date)
  return { date, failures, succeeded_at: timeOrNull(succeededAt), lost_at: timeOrNull(lostAt) }
}

function drillJson({ drill, lastPassedDrillAt }: BackupState) {
  if (!drill) return null
  const { backupId, endedAt, passed, rtoSeconds, rpoSeconds } = drill
  return {
    backup_id: backupId,
    at: toRfc3339(endedAt),
    passed,
    rto_seconds: rtoSeconds,
    rpo_seconds: rpoSeconds,
    last_passed_at: timeOrNull(lastPassedDrillAt),
  }
}

type StatusJson = Readonly<Record<'state' | 'next_run' | 'next_drill', string>> & {
  readonly today: { readonly failures: number }
}

function rowsOf(json: StatusJson, { run, lastSuccess, drill, pendingReboot }: BackupState): string[][] {
  const failure = run?.status === 'failed' ? run.failure : undefined
  return [
    ['STATE', json.state],
    ['LAST RUN', run ? `${run.backupId}, reached ${run.reached}` : 'none'],
    ...(failure ? [['FAILURE', `${failure.errorCode} in ${failure.job}: ${failure.message}`]] : []),
    [
      'LAST SUCCESS',
      lastSuccess
        ? `${toRfc3339(lastSuccess.at)}, ${sizeText(lastSuccess.size)} at ${lastSuccess.path}`
        : 'none',
    ],
    ...(lastSuccess?.leftOut ? [['LEFT OUT', leftOutText(lastSuccess.leftOut)]] : []),
    ['FAILURES TODAY', String(json.today.failures)],
    ['NEXT RUN', json.next_run],
    ['LAST DRILL', drill ? `${toRfc3339(drill.endedAt)}, ${drill.passed ? 'passed' : 'failed'}` : 'none'],
    ['NEXT DRILL', json.next_drill],
    ...(pendingReboot ? [['PENDING REBOOT', `since ${toRfc3339(pendingReboot.at)}`]] : []),
  ]
}

function timeOrNull(at: number | undefined): string | null {
  return at === undefined ? null : toRfc3339(at)
}
