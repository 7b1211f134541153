import type { NightOutcome } from '../night/night.ts'
import { leftOutText } from '../package/left-out.ts'
import { sizeText } from '../restore/words.ts'
import type { CommandResult } from './result.ts'

/** The outcome of `run` and `retry`. */
export function nightResult(outcome: NightOutcome, { isDryRun = false } = {}): CommandResult {
  const exitCode = outcome.outcome === 'failed' || outcome.outcome === 'lost' ? 1 : 0
  const isRehearsed = isDryRun && outcome.outcome === 'succeeded'
  const text = isRehearsed ? rehearsedText(outcome) : textOf(outcome)
  return { exitCode, text: `${text}\n`, json: jsonOf(outcome) }
}

function rehearsedText({ run }: NightOutcome): string {
  const made = `a package of ${sizeText(run?.archive?.size ?? 0)} was made and removed again`
  return `dry run of backup ${run?.backupId}: ${made}; nothing was uploaded, cleaned or rebooted`
}

function textOf(outcome: NightOutcome): string {
  const { run, message, errorCode } = outcome
  switch (outcome.outcome) {
    case 'nothing':
      return `nothing to do: ${message}`
    case 'lost':
      return `lost: ${message}`
    case 'failed':
      return `${run ? `backup ${run.backupId}` : 'the backup'} has failed: ${errorCode}: ${message}`
    case 'succeeded': {
      const stored = `${sizeText(run?.archive?.size ?? 0)} at ${run?.remote?.path}`
      const leftOut = run?.archive?.leftOut
      return `backup ${run?.backupId} is verified: ${stored}; ${leftOut ? `${leftOutText(leftOut)}; ` : ''}${rebootText(outcome)}`
    }
  }
}

function rebootText({ reboot, heldBackBy }: NightOutcome): string {
  if (reboot === 'begun') return 'the server reboots'
  if (heldBackBy) return `no reboot, held back by "${heldBackBy.gate}": ${heldBackBy.reason}`
  return 'no reboot'
}

function jsonOf({ outcome, message, run, errorCode, reboot, heldBackBy }: NightOutcome): object {
  return {
    outcome,
    message,
    ...(run && { backup_id: run.backupId, state: run.reached }),
    ...(errorCode && { error_code: errorCode, job_name: run?.failure?.job }),
    ...(run?.archive && { size: run.archive.size, sha256: run.archive.sha256 }),
    ...(run?.remote && { target_path: run.remote.path }),
    ...(run?.archive?.leftOut && { left_out: run.archive.leftOut }),
    ...(reboot && { reboot }),
    ...(heldBackBy && { gate: heldBackBy.gate, reason: heldBackBy.reason }),
  }
}
