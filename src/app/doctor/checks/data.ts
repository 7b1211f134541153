import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  findTimerFaults,
  lostNightDirectory,
  placesOf as nightPlacesOf,
  readNight,
  recognitionOf,
  RECOGNITION_REMEDIES,
  secretFilesOf,
  type SecretFile,
} from '../../../../programs/backup/index.ts'
import { databaseLocation } from '../../../config/address-types.ts'
import type { Config, LoadedConfig } from '../../../config/config.ts'
import { systemClock } from '../../../kernel/clock.ts'
import { AppError, errorMessage } from '../../../kernel/errors.ts'
import { MINUTE, SECOND, toRfc3339, DAY, HOUR, WEEKDAYS, weeklySpans } from '../../../kernel/time.ts'
import { postgresRemedy, postgresRemedyCode } from '../../../store/dialects/postgres-failure.ts'
import { inspectServers, findLostRows, quickCheck } from '../../../store/files/inspect-database.ts'
import type { SchemaStatus } from '../../../store/migrate.ts'
import {
  restoreRemedy,
  LEFT_FILE_REMEDY,
  lostDatabaseRemedy,
  loneKeyNotice,
  lostDatabaseRemains,
} from '../../lost-database.ts'
import { explainDatabaseFailure } from '../../database.ts'
import {
  fault,
  fine,
  NOT_MADE_YET,
  skipped,
  warning,
  type Check,
  type DoctorParts,
  type CheckFinding,
} from '../check.ts'
import type { DatabaseState } from '../database-state.ts'
import type { FindingCode } from '../findings.ts'
import { findLockHolder } from '../lock-holder.ts'
import { modeText } from '../service.ts'
import { findOwnListener } from './network.ts'
import { shellWord } from '../../../kernel/text.ts'

const INTEGRITY_MS = MINUTE
const LOST_ROWS_MS = 10 * SECOND

/** What a commit needs to survive a power failure; the key is the name of the engine's setting. */
const EXPECTED: Readonly<Record<string, (value: string) => boolean>> = {
  journal_mode: (value) => value === 'wal',
  fsync: (value) => value === 'on',
  full_page_writes: (value) => value === 'on',
  synchronous_commit: (value) => value !== 'off' && value !== 'local',
  server_encoding: (value) => value === 'UTF8',
}

/** Whether the database can be used, is undamaged, has the schema of this release, and commits durably. */
export const databaseCheck: Check = {
  name: 'database',
  run: async (parts) => {
    const servers = serverFindings(parts)
    return [...(await databaseFindings(parts)), ...(await servers)]
  },
}

async function databaseFindings(parts: DoctorParts): Promise<CheckFinding[]> {
  const name = databaseLocation.format(parts.loaded.config.database)
  try {
    const facts = await parts.database()
    if (!facts || facts.schema.applied.length === 0) return [await missingDatabase(name, parts)]
    const state = await integrity(name, parts)
    return [
      state,
      ...(facts.failure === undefined || state.result === 'error'
        ? []
        : [unusableDatabase(name, parts, facts.failure)]),
      ...(await lostRows(parts)),
      schemaFinding(facts.schema),
      ...settingFindings(facts.settings, parts.loaded.config),
      ...leftFileFinding(facts),
      ...(await heldLock(parts)),
    ]
  } catch (error) {
    return [unusableDatabase(name, parts, error)]
  }
}

/** Each server of the list of hosts in `database.url`, and its role. */
async function serverFindings({ loaded }: DoctorParts): Promise<CheckFinding[]> {
  const servers = await inspectServers(loaded.config.database)
  return servers.map(({ name, role, reason }) => {
    if (role === 'unreachable') return unreachable(name, new Error(reason))
    if (role === 'former primary') return fault(name, 'server_former_primary')
    return fine(name, role)
  })
}

function unreachable(name: string, cause: Error): CheckFinding {
  const [remedy, remedyCode] = [postgresRemedy(cause), postgresRemedyCode(cause)]
  return warning(name, 'server_unreachable', { reason: cause.message, remedy, remedyCode })
}

function leftFileFinding({ leftFile }: DatabaseState): CheckFinding[] {
  if (leftFile === undefined) return []
  return [warning(leftFile, 'file_left', { remedy: LEFT_FILE_REMEDY })]
}

/** The write lock that another process holds, such as a shell of `sqlite3` that somebody has left in a transaction. */
async function heldLock({ loaded: { config } }: DoctorParts): Promise<CheckFinding[]> {
  if (config.database.kind !== 'sqlite') return []
  const holder = await findLockHolder(config.database.path)
  if (!holder) return []
  const { processId, name } = holder
  return [fault('write lock', 'lock_held', { process: String(processId), name })]
}

function placesOf({ config: { database, dataDir }, file }: LoadedConfig) {
  return { database, dataDir, configFile: file }
}

async function missingDatabase(name: string, { loaded }: DoctorParts): Promise<CheckFinding> {
  const { config } = loaded
  const running = await findOwnListener(config)
  if (running) return fault(name, 'database_elsewhere', { listener: running.setting, path: config.dataDir })
  const remains = lostDatabaseRemains(config)
  if (remains.length > 0)
    return fault(name, 'database_gone', { remains, remedy: lostDatabaseRemedy(placesOf(loaded)) })
  if (loneKeyNotice(config) !== undefined)
    return warning(name, 'database_absent', { remedy: lostDatabaseRemedy(placesOf(loaded)) })
  return skipped(name, NOT_MADE_YET)
}

function unusableDatabase(name: string, { loaded }: DoctorParts, error: unknown): CheckFinding {
  if (error instanceof AppError && error.code === 'schema_too_new')
    return fault(name, 'database_newer', { reason: error.message })
  const cause = error instanceof AppError ? (error.cause ?? error) : error
  return fault(name, 'database_unusable', { ...explainDatabaseFailure(placesOf(loaded), cause) })
}

async function integrity(name: string, { loaded }: DoctorParts): Promise<CheckFinding> {
  const limit = AbortSignal.timeout(INTEGRITY_MS)
  try {
    return fine(name, await quickCheck(loaded.config.database, limit))
  } catch (error) {
    if (limit.aborted) return skipped(name, 'the integrity check takes longer than a minute')
    const command = restoreRemedy(placesOf(loaded))
    return fault(name, 'database_damaged', { reason: errorMessage(error), command })
  }
}

/** Rows to which others refer, and that another program has deleted; PostgreSQL does not let it. */
async function lostRows({ loaded }: DoctorParts): Promise<CheckFinding[]> {
  const { database } = loaded.config
  if (database.kind !== 'sqlite') return []
  // A damaged file, or one that takes longer, has another finding.
  const lost = await findLostRows(database.path, AbortSignal.timeout(LOST_ROWS_MS)).catch(() => [])
  const command = restoreRemedy(placesOf(loaded))
  return lost.map(({ lostFrom, table, rows }) =>
    warning(`table ${lostFrom}`, 'rows_lost', { table, count: rows, command }),
  )
}

function schemaFinding({ applied, pending, unknown }: SchemaStatus): CheckFinding {
  const newest = applied.at(-1)?.name ?? 'none'
  if (pending.length > 0) return warning('schema', 'schema_pending', { newest, pending })
  if (unknown.length === 0) return fine('schema', newest)
  return warning('schema', 'schema_newer', { steps: unknown.map(({ name }) => name) })
}

function settingFindings(
  settings: Readonly<Record<string, string>>,
  config: Pick<Config, 'readOnly'>,
): CheckFinding[] {
  return Object.entries(settings).map(([key, value]) => settingFinding(key, value, config))
}

// SQLSTATE: read_only_sql_transaction
const READ_ONLY = Object.assign(new Error(), { code: '25006' })

function settingFinding(key: string, value: string, { readOnly }: Pick<Config, 'readOnly'>): CheckFinding {
  if (key === 'transaction_read_only')
    return value === 'off' || readOnly
      ? fine(key, value)
      : fault(key, 'database_read_only', { remedy: postgresRemedy(READ_ONLY) })
  if (EXPECTED[key]?.(value) ?? true) return fine(key, value)
  return fault(key, 'database_setting', { value })
}

const GROUP_OR_OTHERS = 0o077

/** The longest time between two nights. */
const LATE_NIGHT_MS = 26 * HOUR
/** Without `data.backup_every` somebody should make a data backup on most days. */
const USUAL_PERIOD_MS = DAY

/** The files of the nightly routine and its last success, where it is configured, and the last data backup. */
export const backupCheck: Check = {
  name: 'backup',
  modules: ['api', 'worker'],
  run: async ({ loaded: { config }, clock, knownState }) => [
    ...(await night(config, clock.now())),
    ...dataBackups(config, clock.now(), await knownState()),
  ],
}

async function night(config: Config, now: number): Promise<CheckFinding[]> {
  if (config.backup.drive.apiUrl === undefined)
    return [skipped('backup.drive.api_url', 'is not set: there is no nightly routine')]
  const state = readNight(config)
  return [
    ...secretFilesOf(config).map(secretFile),
    ...lostState(config),
    nextNight(config, now),
    ...findTimerFaults(config).map(({ name, ...values }) => warning(name, 'night_timer_elsewhere', values)),
    lastNight(state, now),
    ...lastDrill(config, state),
    ...sharedFolder(state?.sharedWith ?? []),
    await recognition(config),
  ]
}

/** Whoever reads the times of the log, or of another server, thinks in another zone. */
function nextNight({ backup: { timeZone, windowStart, windowEnd } }: Config, now: number): CheckFinding {
  const hours = { days: WEEKDAYS, from: windowStart, to: windowEnd, timeZone }
  const next = weeklySpans(hours, now).find(({ startsAt }) => startsAt > now)
  const at = next === undefined ? 'never' : toRfc3339(next.startsAt)
  return fine(`backup.time_zone ${timeZone}`, `the next night begins at ${windowStart} there, ${at}`)
}

function lastNight(state: ReturnType<typeof readNight>, now: number): CheckFinding {
  const subject = 'nightly backup'
  if (state === undefined)
    return skipped(subject, 'is not installed, or this user cannot read its state: run the doctor as root')
  const { run, lastSuccess } = state
  const failure = run?.failure
  const at = lastSuccess && toRfc3339(lastSuccess.at)
  if (lastSuccess && isAhead(lastSuccess.at, now))
    return madeAhead(subject, 'night_in_future', lastSuccess.at)
  const isLate = lastSuccess === undefined || now - lastSuccess.at > LATE_NIGHT_MS
  if (!isLate && !failure) return fine(subject, `the last success was at ${at}`)
  const part = failure?.errorCode.startsWith('token_') === true ? '"Authorising the drive"' : '"Error codes"'
  return (isLate ? fault : warning)(subject, nightCode(at !== undefined, failure !== undefined), {
    ...(at !== undefined && { at }),
    ...(failure && { error: failure.errorCode, reason: failure.message }),
    part,
  })
}

function lastDrill(config: Config, state: ReturnType<typeof readNight>): CheckFinding[] {
  const drill = state?.drill
  if (drill === undefined) return []
  const subject = 'restore drill'
  const at = toRfc3339(drill.endedAt)
  if (drill.passed) return [fine(subject, `passed at ${at}`)]
  const report = join(nightPlacesOf(config).directory, `restore-drill-${drill.backupId}.md`)
  return [warning(subject, 'drill_failed', { at, backup: drill.backupId, report })]
}

function nightCode(hasSucceeded: boolean, hasFailed: boolean): FindingCode {
  if (hasSucceeded) return hasFailed ? 'night_failed' : 'night_late'
  return hasFailed ? 'night_never_failed' : 'night_never'
}

/** After its clock was set back, a host waits for the time that it has seen. */
const isAhead = (time: number, now: number) => time > now + 10 * MINUTE

function madeAhead(subject: string, code: FindingCode, at: number): CheckFinding {
  return fault(subject, code, { at: toRfc3339(at) })
}

function dataBackups(
  { data, dataDir, backup }: Config,
  now: number,
  { schema, lastBackup }: Partial<DatabaseState>,
): CheckFinding[] {
  const [first] = schema?.applied ?? []
  if (lastBackup === undefined || first === undefined) return []
  const subject = 'data backup'
  const { at: lastBackupAt, fault: lastBackupFault } = lastBackup
  const at = lastBackupAt === undefined ? undefined : toRfc3339(lastBackupAt)
  const detail = at === undefined ? 'was never made' : `was last made at ${at}`
  if (lastBackupAt !== undefined && isAhead(lastBackupAt, now))
    return [madeAhead(subject, 'backup_in_future', lastBackupAt)]
  const isLate = now - (lastBackupAt ?? first.appliedAt) > 2 * (data.backupEveryMs ?? USUAL_PERIOD_MS)
  if (at !== undefined && lastBackupFault !== undefined) {
    const values = { at, directory: join(dataDir, 'backups'), reason: lastBackupFault }
    return [warning(subject, 'backup_file_lost', values)]
  }
  if (!isLate) return [fine(subject, detail)]
  if (data.backupEveryMs === undefined && backup.drive.apiUrl !== undefined)
    return [skipped(subject, `${detail}; the nightly routine saves the database`)]
  return [at === undefined ? warning(subject, 'backup_never') : warning(subject, 'backup_late', { at })]
}

/** The alerts of a night wait in its outbox for ever when the platform does not know who sends them. */
async function recognition(config: Config): Promise<CheckFinding> {
  const subject = `backup.platform_api ${config.backup.platformApi}`
  const answer = await recognitionOf(config, systemClock)
  if (answer.outcome === 'recognised') return fine(subject, 'takes the alerts of the routine')
  const values = {
    reason: answer.reason,
    remedy: RECOGNITION_REMEDIES[answer.outcome],
    remedyCode: answer.outcome,
  }
  return answer.outcome === 'refused'
    ? fault(subject, 'night_refused', values)
    : warning(subject, 'night_unheard', values)
}

function sharedFolder(others: readonly string[]): CheckFinding[] {
  if (others.length === 0) return []
  return [warning('root_dir of the drive', 'drive_shared', { servers: others })]
}

function secretFile({ setting, path, read }: SecretFile): CheckFinding {
  const stats = statSync(path, { throwIfNoEntry: false })
  const subject = `${setting} ${path}`
  if (!stats) return fault(subject, 'drive_file_missing')
  const mode = modeText(stats.mode)
  if ((stats.mode & GROUP_OR_OTHERS) !== 0)
    return fault(subject, 'drive_file_open', { mode, command: `chmod 600 ${shellWord(path)}` })
  if (!isReadable(path)) return skipped(subject, 'this user cannot read it: run the doctor as root')
  try {
    read()
    return fine(subject, `mode ${mode}`)
  } catch (error) {
    const reason = errorMessage(error).replace(`${path}: `, '')
    return fault(subject, 'drive_file_unusable', { reason })
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

function lostState(config: Config): CheckFinding[] {
  const directory = lostNightDirectory(config)
  if (directory === undefined) return []
  return [warning(directory, 'night_state_lost')]
}

// With more names the sentence would be too long.
const MOST_NAMES = 5

/** The registered certificates. */
export const certificatesCheck: Check = {
  name: 'certificates',
  modules: ['api', 'worker'],
  run: async ({ loaded, knownState }) => {
    const { certificates, lostCertificates = [] } = await knownState()
    if (!certificates) return [skipped('registry', 'needs the database')]
    return [...registry(certificates), ...lostFiles(lostCertificates, loaded.config)]
  },
}

function registry(counts: NonNullable<DatabaseState['certificates']>): CheckFinding[] {
  const countOf = (status: string) => counts.find((row) => row.status === status)?.certificates ?? 0
  const [expiring, expired] = [countOf('expiring'), countOf('expired')]
  const all = counts.reduce((sum, { certificates }) => sum + certificates, 0)
  if (all === 0) return [skipped('registry', 'no certificate is registered')]
  const values = { registered: all, expiring, expired }
  if (expired > 0) return [fault('registry', 'certificates_ended', values)]
  if (expiring > 0) return [warning('registry', 'certificates_end_soon', values)]
  return [fine('registry', `${all} registered, 0 end soon, 0 have ended`)]
}

function lostFiles(names: readonly string[], { dataDir }: Config): CheckFinding[] {
  if (names.length === 0) return []
  const values = { count: names.length, names: names.slice(0, MOST_NAMES) }
  return [fault(join(dataDir, 'certs'), 'certificate_files_lost', values)]
}
