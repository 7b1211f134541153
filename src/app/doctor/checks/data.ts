import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  lostNight,
  readNight,
  recognitionOf,
  recognitionRemedy,
  secretFilesOf,
  type SecretFile,
} from '../../../../programs/backup/index.ts'
import { databaseLocation } from '../../../config/address-types.ts'
import type { Config, LoadedConfig } from '../../../config/config.ts'
import { readMirrorToken } from '../../../config/secrets.ts'
import { doNetworksOverlap, type MirrorState } from '../../../domains/users/index.ts'
import { PrimaryUsers } from '../../../infra/mirror/primary-users.ts'
import { systemClock } from '../../../kernel/clock.ts'
import { counted } from '../../../kernel/text.ts'
import { AppError, errorMessage } from '../../../kernel/errors.ts'
import { MINUTE, SECOND, toRfc3339, DAY, HOUR } from '../../../kernel/time.ts'
import { WEEKDAYS, weeklySpans } from '../../../kernel/weekly.ts'
import type { UserSourceFailure } from '../../../ports/user-source.ts'
import { postgresRemedy } from '../../../store/dialects/postgres-failure.ts'
import { inspectServers } from '../../../store/files/inspect-database.ts'
import type { SchemaStatus } from '../../../store/migrate.ts'
import { quickCheck } from '../../../store/files/quick-check.ts'
import { restoreRemedy } from '../../backup-files.ts'
import { explainDatabaseFailure } from '../../database.ts'
import {
  LEFT_FILE_REMEDY,
  lostDatabaseRemedy,
  loneKeyNotice,
  lostDatabaseRemains,
} from '../../lost-database.ts'
import {
  fault,
  fine,
  skipped,
  warning,
  type Check,
  type DoctorParts,
  type CheckFinding,
  type InspectedDatabase,
  type CertificateCounts,
} from '../check.ts'
import { documentPath } from '../document-path.ts'
import { findLockHolder } from '../lock-holder.ts'

const INTEGRITY_MS = MINUTE

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
    if (!facts) return [missing(name, parts)]
    return [
      await integrity(name, parts),
      schemaFinding(facts.schema),
      // The first start sets them.
      ...(facts.schema.applied.length > 0 ? settingFindings(facts.settings) : []),
      ...leftFileFinding(facts),
      ...(await heldLock(parts)),
    ]
  } catch (error) {
    return [unusable(name, parts, error)]
  }
}

/** Each server of the list of hosts in `database.url`, and its role. */
async function serverFindings({ loaded }: DoctorParts): Promise<CheckFinding[]> {
  const servers = await inspectServers(loaded.config.database)
  return servers.map(({ name, role, reason }) => {
    if (role === 'unreachable')
      return warning(
        name,
        `unreachable: ${reason}`,
        `${postgresRemedy(new Error(reason))}; or remove it from the list of database.url`,
      )
    if (role === 'former primary')
      return fault(name, 'takes changes, but another server was promoted after it', 'stop this server')
    return fine(name, role)
  })
}

function leftFileFinding({ leftFile }: InspectedDatabase): CheckFinding[] {
  if (leftFile === undefined) return []
  const detail = 'has data that the database of PostgreSQL does not have, and is not used'
  return [warning(leftFile, detail, LEFT_FILE_REMEDY)]
}

/** Such as a shell of `sqlite3` that somebody has left in a transaction. */
async function heldLock({ loaded: { config } }: DoctorParts): Promise<CheckFinding[]> {
  if (config.database.kind !== 'sqlite') return []
  const holder = await findLockHolder(config.database.path)
  if (!holder) return []
  const { processId, name } = holder
  const detail = `process ${processId} (${name}) has held it for 2 s, and changes are answered 503 meanwhile`
  return [
    fault(
      'write lock',
      detail,
      `look what it does (ps ${processId}); if it is no migration, end it: kill ${processId}`,
    ),
  ]
}

function placesOf({ config: { database, dataDir }, file }: LoadedConfig) {
  return { database, dataDir, configFile: file }
}

function missing(name: string, { loaded }: DoctorParts): CheckFinding {
  const { config } = loaded
  const remains = lostDatabaseRemains(config)
  if (remains.length > 0)
    return fault(name, `is gone, but not ${remains.join(', ')}`, lostDatabaseRemedy(placesOf(loaded)))
  if (loneKeyNotice(config) !== undefined)
    return warning(
      name,
      'does not exist, but jwt-secret does',
      `if there was one: ${lostDatabaseRemedy(placesOf(loaded))}`,
    )
  return skipped(name, 'does not exist yet: `platform serve` creates it')
}

function unusable(name: string, { loaded }: DoctorParts, error: unknown): CheckFinding {
  if (error instanceof AppError && error.code === 'schema_too_new')
    return fault(name, error.message, 'install that release, or restore the backup from before the upgrade')
  const cause = error instanceof AppError ? (error.cause ?? error) : error
  const { reason, remedy } = explainDatabaseFailure(placesOf(loaded), cause)
  return fault(name, reason, remedy)
}

async function integrity(name: string, { loaded }: DoctorParts): Promise<CheckFinding> {
  const limit = AbortSignal.timeout(INTEGRITY_MS)
  try {
    return fine(name, await quickCheck(loaded.config.database, limit))
  } catch (error) {
    if (limit.aborted) return skipped(name, 'the integrity check takes longer than a minute')
    return fault(name, errorMessage(error), `stop the platform, then run: ${restoreRemedy(placesOf(loaded))}`)
  }
}

function schemaFinding({ applied, pending, unknown }: SchemaStatus): CheckFinding {
  const newest = applied.at(-1)?.name ?? 'none'
  if (pending.length > 0)
    return warning(
      'schema',
      `${newest}; pending: ${pending.join(', ')}`,
      'restart, or run: platform db migrate, which says why if a step fails',
    )
  if (unknown.length === 0) return fine('schema', newest)
  const names = unknown.map(({ name }) => name).join(', ')
  return warning('schema', `a newer release has added ${names}`, 'upgrade this program')
}

function settingFindings(settings: Readonly<Record<string, string>>): CheckFinding[] {
  return Object.entries(settings).map(([key, value]) => settingFinding(key, value))
}

function settingFinding(key: string, value: string): CheckFinding {
  if (EXPECTED[key]?.(value) ?? true) return fine(key, value)
  return fault(key, `is ${value}`, 'change it: acknowledged changes can be lost, or text damaged')
}

type Outcome = Awaited<ReturnType<PrimaryUsers['changesSince']>>

const TOKEN_REMEDY =
  'on the primary, run: platform token issue USER --purpose mirror --ttl 30d, for any enabled user'
const UNREACHABLE_REMEDY = 'start the primary, or change gateway.mirror_from; until then the copy is used'
const REMEDIES: Readonly<Record<UserSourceFailure['outcome'], string>> = {
  refused: TOKEN_REMEDY,
  unreachable: UNREACHABLE_REMEDY,
  unusable: 'install the same release on both servers',
}
// A running standby records every ten seconds that its copy is current.
const RECENT_MS = MINUTE

/** Whether a standby can copy the users of its primary, and how old its copy is. */
export const standbyCheck: Check = {
  name: 'standby',
  modules: ['gateway'],
  async run({ loaded: { config }, clock, database }) {
    const { gateway } = config
    if (gateway.mirrorFrom === undefined) return [skipped('gateway.mirror_from', 'is not set: no standby')]
    const state = (await database().catch(() => undefined))?.mirror
    const token = tokenFile(gateway.mirrorTokenFile ?? '')
    return [
      token,
      ...(token.result === 'ok' ? await primary(gateway.mirrorFrom, config, state?.revision ?? 0) : []),
      copy(state, gateway.mirrorMaxAgeMs, clock.now()),
    ]
  },
}

function tokenFile(path: string): CheckFinding {
  const subject = `gateway.mirror_token_file ${path}`
  try {
    readMirrorToken(path)
    return fine(subject, 'contains a token')
  } catch (error) {
    return fault(subject, errorMessage(error), TOKEN_REMEDY)
  }
}

async function primary(url: string, { gateway, vpn }: Config, since: number): Promise<CheckFinding[]> {
  const { mirrorTokenFile = '' } = gateway
  const users = new PrimaryUsers({ url, readToken: () => readMirrorToken(mirrorTokenFile) })
  try {
    return answerOf(url, await users.changesSince(since, AbortSignal.any([])), vpn.ipPool.text)
  } finally {
    users.close()
  }
}

function answerOf(url: string, answer: Outcome, ownPool: string): CheckFinding[] {
  if (answer.outcome === 'changes')
    return [fine(url, 'answers with its users'), pools(ownPool, answer.changes.pool)]
  const result = answer.outcome === 'unreachable' ? warning : fault
  return [result(url, answer.reason, REMEDIES[answer.outcome])]
}

function pools(own: string, ofPrimary: string): CheckFinding {
  const subject = `vpn.ip_pool ${own}`
  if (!doNetworksOverlap(own, ofPrimary)) return fine(subject, `does not overlap ${ofPrimary} of the primary`)
  return fault(subject, `overlaps ${ofPrimary} of the primary`, 'give each server a pool of its own')
}

function copy(state: MirrorState | undefined, maxAgeMs: number, now: number): CheckFinding {
  const confirmedAt = state?.confirmedAt ?? null
  if (confirmedAt === null) return skipped('copy of the users', 'is made by the first start')
  const seconds = Math.max(0, Math.round((now - confirmedAt) / SECOND))
  const detail = `was current ${seconds} s ago, at ${toRfc3339(confirmedAt)}`
  if (seconds * SECOND > maxAgeMs)
    return fault('copy of the users', `${detail}: no new session is accepted`, UNREACHABLE_REMEDY)
  if (seconds * SECOND <= RECENT_MS) return fine('copy of the users', detail)
  return warning(
    'copy of the users',
    detail,
    'start the platform on this server, and see the finding of the primary',
  )
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
    ...secretFilesOf(config).map(secretFile),
    ...lostState(config),
    nextNight(config, now),
    lastNight(state, now),
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
  const last = lastSuccess
    ? `the last success was at ${toRfc3339(lastSuccess.at)}`
    : 'no night has succeeded yet'
  const failure = run?.failure ? `; then ${run.failure.errorCode}: ${run.failure.message}` : ''
  if (lastSuccess && isAhead(lastSuccess.at, now)) return madeAhead(subject, last)
  const isLate = lastSuccess === undefined || now - lastSuccess.at > LATE_NIGHT_MS
  if (!isLate && failure === '') return fine(subject, last)
  const part =
    run?.failure?.errorCode.startsWith('token_') === true ? '"Authorising the drive"' : '"Error codes"'
  const remedy = `see ${part} in ${documentPath('docs/guide/nightly.md')}, then run: platform backup run --no-reboot`
  return (isLate ? fault : warning)(subject, `${last}${failure}`, remedy)
}

/** After its clock was set back, a host waits for the time that it has seen. */
const isAhead = (time: number, now: number) => time > now + 10 * MINUTE

function madeAhead(subject: string, detail: string): CheckFinding {
  const remedy = `look at the clock (timedatectl) and set it if it is behind; if it is right, see "The clock was ahead" in ${documentPath('docs/guide/operating.md')}, and make another one now`
  return fault(subject, `${detail}, which is later than now: the clock was ahead, or is behind`, remedy)
}

function dataBackups(
  { data, dataDir, backup }: Config,
  now: number,
  facts?: InspectedDatabase,
): CheckFinding[] {
  const [first] = facts?.schema.applied ?? []
  if (facts === undefined || first === undefined || facts.schema.pending.length > 0) return []
  const subject = 'data backup'
  const { lastBackupAt } = facts
  const detail = lastBackupAt === undefined ? 'was never made' : `was last made at ${toRfc3339(lastBackupAt)}`
  if (lastBackupAt !== undefined && isAhead(lastBackupAt, now)) return [madeAhead(subject, detail)]
  const isLate = now - (lastBackupAt ?? first.appliedAt) > 2 * (data.backupEveryMs ?? USUAL_PERIOD_MS)
  if (facts.lastBackupFault !== undefined)
    return [
      warning(
        subject,
        `${detail}, and is not in ${join(dataDir, 'backups')}: ${facts.lastBackupFault}`,
        'if another host has it, nothing; else run: platform data backup',
      ),
    ]
  if (!isLate) return [fine(subject, detail)]
  if (data.backupEveryMs === undefined && backup.drive.apiUrl !== undefined)
    return [skipped(subject, `${detail}; the nightly routine saves the database`)]
  return [
    warning(subject, detail, 'run: platform data backup, and set data.backup_every; a worker makes them'),
  ]
}

/** The alerts of a night wait in its outbox for ever when the platform does not know who sends them. */
async function recognition(config: Config): Promise<CheckFinding> {
  const subject = `backup.platform_api ${config.backup.platformApi}`
  const answer = await recognitionOf(config, systemClock)
  if (answer.outcome === 'recognised') return fine(subject, 'takes the alerts of the routine')
  return answer.outcome === 'refused'
    ? fault(subject, `${answer.reason}, so it gets no alerts of the night`, recognitionRemedy(answer))
    : warning(subject, answer.reason, recognitionRemedy(answer))
}

function sharedFolder(others: readonly string[]): CheckFinding[] {
  if (others.length === 0) return []
  const detail = `has backups of other servers: ${others.join(', ')}`
  return [
    warning('root_dir of the drive', detail, 'give each server a root_dir of its own in its token file'),
  ]
}

function secretFile({ setting, path, read }: SecretFile): CheckFinding {
  const stats = statSync(path, { throwIfNoEntry: false })
  const subject = `${setting} ${path}`
  if (!stats)
    return fault(subject, 'does not exist', `see "Setting it up" in ${documentPath('docs/guide/nightly.md')}`)
  const mode = (stats.mode & 0o777).toString(8)
  if ((stats.mode & GROUP_OR_OTHERS) !== 0)
    return fault(subject, `mode ${mode}: the routine refuses it`, `run: chmod 600 ${path}`)
  if (!isReadable(path)) return skipped(subject, 'this user cannot read it: run the doctor as root')
  try {
    read()
    return fine(subject, `mode ${mode}`)
  } catch (error) {
    const remedy = `put your copy back, or make it anew: "Authorising the drive" in ${documentPath('docs/guide/nightly.md')}`
    return fault(subject, errorMessage(error).replace(`${path}: `, ''), remedy)
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
  const directory = lostNight(config)
  if (directory === undefined) return []
  const detail =
    'is gone with the state of the routine and the alerts that waited in it; its units are installed'
  return [
    warning(directory, detail, 'run as root: platform backup install, then platform backup run --no-reboot'),
  ]
}

// More would be no sentence.
const NAMED = 5
const CERTIFICATE_REMEDY = 'GET /certificates shows them; replace them'

/** The registered certificates. */
export const certificatesCheck: Check = {
  name: 'certificates',
  modules: ['api', 'worker'],
  run: async ({ loaded, database }) => {
    const facts = await database().catch(() => undefined)
    if (!facts) return [skipped('registry', 'needs the database')]
    return [...registry(facts.certificates), ...lostFiles(facts, loaded.config)]
  },
}

function registry(counts: CertificateCounts): CheckFinding[] {
  const [expired, expiring, all] = [['expired'], ['expiring'], undefined].map((statuses) =>
    sum(counts, statuses),
  ) as [number, number, number]
  if (all === 0) return [skipped('registry', 'no certificate is registered')]
  const detail = `${all} registered, ${expiring} end soon, ${expired} have ended`
  if (expired > 0) return [fault('registry', detail, CERTIFICATE_REMEDY)]
  return [expiring > 0 ? warning('registry', detail, CERTIFICATE_REMEDY) : fine('registry', detail)]
}

function lostFiles({ lostCertificates }: InspectedDatabase, { dataDir }: Config): CheckFinding[] {
  if (lostCertificates.length === 0) return []
  const detail = `does not have the files of ${counted(lostCertificates.length, 'certificate')}: ${lostCertificates.slice(0, NAMED).join(', ')}`
  const remedy =
    'put the directory back from your copy or the nightly backup (platform backup restore --latest --into DIRECTORY), or register the certificates again'
  return [fault(join(dataDir, 'certs'), detail, remedy)]
}

function sum(counts: CertificateCounts, statuses: readonly string[] | undefined): number {
  return counts
    .filter(({ status }) => statuses?.includes(status) ?? true)
    .reduce((total, { certificates }) => total + certificates, 0)
}
