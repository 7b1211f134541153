import { statSync } from 'node:fs'
import { readNight, recognitionOf, RECOGNITION_REMEDY } from '../../../../programs/backup/index.ts'
import type { Config } from '../../../config/config.ts'
import { systemClock } from '../../../kernel/clock.ts'
import { DAY, HOUR, toRfc3339 } from '../../../kernel/time.ts'
import {
  fault,
  fine,
  skipped,
  warning,
  type Check,
  type CheckFinding,
  type InspectedDatabase,
} from '../check.ts'
import { documentPath } from '../document-path.ts'

const GROUP_OR_OTHERS = 0o077

/** The longest time between two nights. */
const LATE_NIGHT_MS = 26 * HOUR
/** Without `data.backup_every` somebody should make a data backup on most days. */
const USUAL_PERIOD_MS = DAY

/** The files of the nightly routine and its last success, where it is configured, and the last data backup. */
export const backupCheck: Check = {
  name: 'backup',
  run: async ({ loaded: { config }, clock, database }) => [
    ...(await night(config, clock.now())),
    ...dataBackups(config, clock.now(), await database().catch(() => undefined)),
  ],
}

async function night(config: Config, now: number): Promise<CheckFinding[]> {
  if (config.backup.drive.apiUrl === undefined)
    return [skipped('backup.drive.api_url', 'is not set: there is no nightly routine')]
  const state = readNight(config)
  return [
    ...filesOf(config).map(([setting, path]) => privateFile(setting, path)),
    lastNight(state, now),
    ...sharedFolder(state?.sharedWith ?? []),
    await recognition(config),
  ]
}

function lastNight(state: ReturnType<typeof readNight>, now: number): CheckFinding {
  const subject = 'nightly backup'
  if (state === undefined)
    return skipped(subject, 'is not installed, or this user cannot read its state: run the doctor as root')
  const { run, lastSuccess } = state
  const last = lastSuccess
    ? `the last success was at ${toRfc3339(lastSuccess.at)}`
    : 'no night has succeeded yet'
  const failure = run?.failure ? `; then ${run.failure.errorCode}: ${run.failure.message}` : ''
  const isLate = lastSuccess === undefined || now - lastSuccess.at > LATE_NIGHT_MS
  if (!isLate && failure === '') return fine(subject, last)
  const remedy = `see ${documentPath('docs/guide/nightly.md')}, then run: platform backup run --no-reboot`
  return (isLate ? fault : warning)(subject, `${last}${failure}`, remedy)
}

function dataBackups({ data, backup }: Config, now: number, facts?: InspectedDatabase): CheckFinding[] {
  const [first] = facts?.schema.applied ?? []
  if (facts === undefined || first === undefined || facts.schema.pending.length > 0) return []
  const subject = 'data backup'
  const { lastBackupAt } = facts
  const detail = lastBackupAt === undefined ? 'was never made' : `was last made at ${toRfc3339(lastBackupAt)}`
  const isLate = now - (lastBackupAt ?? first.appliedAt) > 2 * (data.backupEveryMs ?? USUAL_PERIOD_MS)
  if (!isLate) return [fine(subject, detail)]
  if (data.backupEveryMs === undefined && backup.drive.apiUrl !== undefined)
    return [skipped(subject, `${detail}; the nightly routine saves the database`)]
  return [
    warning(subject, detail, 'run: platform data backup, and set data.backup_every; a worker makes them'),
  ]
}

function filesOf({ backup: { drive, standby, encryption } }: Config): [setting: string, path: string][] {
  const files: [string, string | undefined][] = [
    ['backup.drive.token_file', drive.tokenFile],
    ['backup.drive.secrets_file', drive.secretsFile],
    ['backup.standby.token_file', standby.tokenFile],
    ['backup.encryption.identity_file', encryption.identityFile],
  ]
  return files.flatMap(([setting, path]) => (path === undefined ? [] : [[setting, path]]))
}

/** The alerts of a night wait in its outbox for ever when the platform does not know who sends them. */
async function recognition(config: Config): Promise<CheckFinding> {
  const subject = `backup.platform_api ${config.backup.platformApi}`
  const answer = await recognitionOf(config, systemClock)
  if (answer.outcome === 'recognised') return fine(subject, 'takes the alerts of the routine')
  return answer.outcome === 'refused'
    ? fault(subject, `${answer.reason}, so it gets no alerts of the night`, RECOGNITION_REMEDY)
    : warning(subject, answer.reason, 'start the platform, or change backup.platform_api')
}

function sharedFolder(others: readonly string[]): CheckFinding[] {
  if (others.length === 0) return []
  const detail = `has backups of other servers: ${others.join(', ')}`
  return [
    warning('root_dir of the drive', detail, 'give each server a root_dir of its own in its token file'),
  ]
}

function privateFile(setting: string, path: string): CheckFinding {
  const stats = statSync(path, { throwIfNoEntry: false })
  const subject = `${setting} ${path}`
  if (!stats) return fault(subject, 'does not exist', `see ${documentPath('docs/guide/nightly.md')}`)
  const mode = stats.mode & 0o777
  if ((mode & GROUP_OR_OTHERS) === 0) return fine(subject, `mode ${mode.toString(8)}`)
  return fault(subject, `mode ${mode.toString(8)}: the routine refuses it`, `run: chmod 600 ${path}`)
}
