import { lstatSync, readdirSync, existsSync, statfsSync, statSync, type Stats } from 'node:fs'
import { basename, join, dirname } from 'node:path'
import { ConfigError } from '../../../config/config-error.ts'
import type { Config, LoadedConfig, EffectiveSetting } from '../../../config/config.ts'
import { isEmptyFile } from '../../../config/toml-file.ts'
import { SETTING_TABLE } from '../../../config/schema.ts'
import { readAuditKeys, readJwtSecret } from '../../../config/secrets.ts'
import { formatSeal } from '../../../domains/audit/index.ts'
import { brokenLink } from '../../../store/dialects/sqlite-failure.ts'
import { openReceivers } from '../../receivers.ts'
import { keyFault, lostKey } from '../../signing-keys.ts'
import { fault, fine, skipped, warning, type Check, type CheckFinding, type DoctorParts } from '../check.ts'
import type { FindingCode } from '../findings.ts'
import { mayAccess, type ServiceUser } from '../service-user.ts'
import { roomCommands } from '../removable-files.ts'
import { examineUnitEnvironment } from '../unit-environment.ts'

// A directory of data has some hundred files; the bound is for one that is something else.
const MOST_FILES = 10_000
const OWNER_READS = 0o400
const OTHERS_WRITE = 0o002
const GROUP_OR_OTHERS = 0o077

interface Entry {
  readonly path: string
  readonly stats: Stats
}

/** Owner and mode of every file below the data directory. */
export const filesCheck: Check = {
  name: 'files',
  run: async (parts) => {
    const { loaded, userId, database } = parts
    const { config } = loaded
    const { dataDir } = config
    const broken = brokenLink(dataDir)
    if (broken) return [fault(dataDir, 'data_dir_broken', { ...broken })]
    const root = statSync(dataDir, { throwIfNoEntry: false })
    if (!root) return [await missingDirectory(parts)]
    if (!root.isDirectory()) return [fault(dataDir, 'data_dir_no_directory')]
    if (userId !== undefined && userId !== 0 && userId !== root.uid) return [ofOther(dataDir, root, userId)]
    const entries = [...entriesBelow(dataDir)]
    const faults = entries.flatMap((entry) => faultsOf(entry, root))
    const findings = [modeOfRoot(dataDir, root), ...faults]
    if (faults.length === 0) {
      if (!config.auth.jwtSecrets) findings.push(await secretFinding(dataDir, database))
      findings.push(
        await keyFinding(parts),
        await auditKeyFinding(dataDir, database),
        await sealFinding(parts),
      )
    }
    const problems = findings.filter((each) => each !== undefined)
    return problems.length > 0
      ? problems
      : [fine(dataDir, `${entries.length} files, each with the owner of the directory`)]
  },
}

/** A database of PostgreSQL that was served before needs the key that was in the directory. */
async function missingDirectory({ loaded: { config }, database }: DoctorParts): Promise<CheckFinding> {
  const lost = config.auth.jwtSecrets ? undefined : await secretFinding(config.dataDir, database)
  return lost ?? skipped(config.dataDir, 'does not exist yet: `platform serve` creates it')
}

/** Nobody should run the platform as root because a copy of its files, which root has made, belongs to root. */
function ofOther(dataDir: string, { uid }: Stats, userId: number): CheckFinding {
  const command = `chown -R ${userId}:${process.getgid?.() ?? userId} ${dataDir}`
  return fault(dataDir, uid === 0 ? 'data_dir_of_root' : 'data_dir_of_other', { owner: idOf(uid), command })
}

function* entriesBelow(directory: string): Generator<Entry> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).slice(0, MOST_FILES)
  for (const name of names) {
    const path = join(directory, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    // Files of a running platform come and go.
    if (stats) yield { path, stats }
  }
}

function modeOfRoot(path: string, { mode }: Stats): CheckFinding | undefined {
  if ((mode & 0o007) === 0) return undefined
  return warning(path, 'data_dir_open', { mode: text(mode), command: `chmod o= ${path}` })
}

function faultsOf({ path, stats }: Entry, root: Stats): CheckFinding[] {
  const { mode, uid } = stats
  const findings: CheckFinding[] = []
  if (uid !== root.uid) {
    const command = `chown --no-dereference ${root.uid}:${root.gid} ${path}`
    findings.push(fault(path, 'file_of_other', { user: idOf(uid), owner: idOf(root.uid), command }))
  }
  if (!stats.isSymbolicLink() && (mode & OWNER_READS) === 0)
    findings.push(fault(path, 'file_unreadable', { mode: text(mode), command: `chmod u+rw ${path}` }))
  if (!stats.isSymbolicLink() && (mode & OTHERS_WRITE) !== 0)
    findings.push(fault(path, 'file_writable', { mode: text(mode), command: `chmod o= ${path}` }))
  if (isKey(path) && (mode & GROUP_OR_OTHERS) !== 0)
    findings.push(fault(path, 'key_readable', { mode: text(mode), command: `chmod 600 ${path}` }))
  return findings
}

function isKey(path: string): boolean {
  return ['jwt-secret', 'identity-key', 'audit-key'].includes(basename(path))
}

/** The platform does not start with a key that it refuses, nor without the key of the database. */
async function secretFinding(
  dataDir: string,
  database: DoctorParts['database'],
): Promise<CheckFinding | undefined> {
  try {
    if (readJwtSecret(dataDir)) return undefined
    const facts = await database().catch(() => undefined)
    if (facts?.hasSigningKey !== true) return undefined
    return fault(join(dataDir, 'jwt-secret'), 'key_lost', lostKey(dataDir, facts.activity?.processes ?? []))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return refusedKey(join(dataDir, 'jwt-secret'), error)
  }
}

/** A key of another installation, or one that was put back while the platform runs with another. */
async function keyFinding({ loaded, clock, database }: DoctorParts): Promise<CheckFinding | undefined> {
  const { config } = loaded
  const keys = (await database().catch(() => undefined))?.keys
  try {
    const found = keys && keyFault(config, keys, clock.now())
    const subject = config.auth.jwtSecrets ? 'auth.jwt_secret' : join(config.dataDir, 'jwt-secret')
    if (!found) return undefined
    const { code, values } = found
    return (code === 'key_changed' ? fault : warning)(subject, code, values)
  } catch (error) {
    // The finding of the file names it.
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

/** The worker keeps the proof until a person has accepted the trail. */
async function sealFinding({ loaded, database }: DoctorParts): Promise<CheckFinding | undefined> {
  const seal = (await database().catch(() => undefined))?.missingSeal
  if (!seal) return undefined
  return fault(join(loaded.config.dataDir, 'audit-seal'), 'seal_missing', { seal: formatSeal(seal) })
}

function refusedKey(file: string, { problems: [problem] }: ConfigError): CheckFinding {
  return fault(file, 'key_refused', { reason: String(problem?.got), expected: String(problem?.expected) })
}

/** The worker makes a key where there is none, but pages that another one has sealed cannot be verified with it. */
async function auditKeyFinding(
  dataDir: string,
  database: DoctorParts['database'],
): Promise<CheckFinding | undefined> {
  const file = join(dataDir, 'audit-key')
  try {
    readAuditKeys(dataDir)
  } catch (error) {
    if (error instanceof ConfigError) return refusedKey(file, error)
    throw error
  }
  const { lostAuditKeys = [] } = (await database().catch(() => undefined)) ?? {}
  if (lostAuditKeys.length === 0) return undefined
  return warning(file, 'audit_key_lost', { keys: lostAuditKeys })
}

/** An id is a name, not a number with separators. */
const idOf = String

function text(mode: number): string {
  return (mode & 0o777).toString(8)
}

const MIB = 1_024 ** 2
// Below this the write-ahead log may not fit.
const ERROR_BYTES = 256 * MIB
const WARNING_SHARE = 0.1
// docs/specification.md, Limits: free space for a data backup
const BACKUP_FACTOR = 1.2
// statfs(2): SQLite needs the locks of a local file system.
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB',
  0x517b: 'SMB',
}

/** The file system of the data directory. */
export const diskCheck: Check = {
  name: 'disk',
  run: async ({ loaded: { config } }) => {
    const { database, dataDir } = config
    const place = existingParent(dataDir)
    const { type, bavail, blocks, bsize, ffree, files } = statfsSync(place)
    const databaseBytes =
      database.kind === 'sqlite' && existsSync(database.path) ? statSync(database.path).size : 0
    const findings = [space(config, place, { free: bavail * bsize, all: blocks * bsize, databaseBytes })]
    // Some file systems have no fixed number of files.
    if (files > 0 && ffree < WARNING_SHARE * files)
      findings.push(warning(place, 'inodes_low', { free: ffree, all: files }))
    const network = NETWORK_FILE_SYSTEMS[type]
    if (network !== undefined && database.kind === 'sqlite')
      findings.push(fault(place, 'disk_of_network', { fileSystem: network }))
    return findings
  },
}

function existingParent(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : existingParent(dirname(path))
}

interface Space {
  readonly free: number
  readonly all: number
  readonly databaseBytes: number
}

function space(config: Config, place: string, { free, all, databaseBytes }: Space): CheckFinding {
  const detail = `${mib(free)} of ${mib(all)} MiB are free`
  const needed = BACKUP_FACTOR * databaseBytes
  if (free >= Math.max(ERROR_BYTES, needed, WARNING_SHARE * all)) return fine(place, detail)
  const values = { freeMib: mib(free), allMib: mib(all), commands: roomCommands(config, place) }
  if (free < ERROR_BYTES) return fault(place, 'disk_full', values)
  if (free < needed) return warning(place, 'disk_too_small', { ...values, neededMib: mib(needed) })
  return warning(place, 'disk_low', values)
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB)
}

const [READ, WRITE, ENTER] = [4, 2, 1]

/** Whether the user of the service can use the files that it needs; the doctor is often run by root, which can use all. */
export const accessCheck: Check = {
  name: 'access',
  run: async ({ loaded, serviceUser }) => {
    const user = await serviceUser()
    if (user === undefined)
      return [skipped('user of the service', 'there is neither a unit nor a data directory')]
    const faults = [
      ...configuration(user, loaded),
      ...privateFiles(user, loaded),
      ...dataDirectory(user, loaded),
    ]
    return faults.length > 0 ? faults : [fine(`user ${user.uid}`, 'can use configuration and data')]
  },
}

/** The remedy lets the group of the service read the file; only its owner may change it. */
function configuration(user: ServiceUser, { file }: LoadedConfig): CheckFinding[] {
  if (file === undefined) return []
  const [group] = user.gids
  const give = group === undefined ? `chown ${user.uid} ${file}` : `chgrp ${group} ${file}`
  return [...unreachable(user, file), ...lacking(user, file, READ, `${give} && chmod u=rw,g=r,o= ${file}`)]
}

/** Nobody but their owner may read them. */
function privateFiles(user: ServiceUser, { config: { gateway, receivers } }: LoadedConfig): CheckFinding[] {
  const paths = [
    gateway.mirrorTokenFile,
    ...receivers.flatMap(({ urlFile, secretFile }) => [urlFile, secretFile]),
  ]
  return paths
    .filter((path) => path !== undefined)
    .flatMap((path) => [
      ...unreachable(user, path),
      ...lacking(user, path, READ, `chown ${owner(user)} ${path}`),
    ])
}

function dataDirectory(user: ServiceUser, { config: { dataDir } }: LoadedConfig): CheckFinding[] {
  const mend = `chown -R ${owner(user)} ${dataDir} && chmod u=rwx ${dataDir}`
  return [...unreachable(user, dataDir), ...lacking(user, dataDir, READ | WRITE | ENTER, mend)]
}

/** The nearest directory above the path that the user cannot enter. */
function unreachable(user: ServiceUser, path: string): CheckFinding[] {
  const above = dirname(path)
  if (above === path) return []
  const nearest = lacking(user, above, ENTER, `chmod o+x ${above}`, 'access_denied_above')
  return nearest.length > 0 ? nearest : unreachable(user, above)
}

function lacking(
  user: ServiceUser,
  path: string,
  permissions: number,
  command: string,
  code: FindingCode = 'access_denied',
): CheckFinding[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  // What is missing is named by the check of its own.
  if (!stats || mayAccess(user, stats, permissions)) return []
  const [uid, gid, of] = [stats.uid, stats.gid, user.uid].map(idOf) as [string, string, string]
  return [fault(path, code, { uid, gid, mode: text(stats.mode), user: of, command })]
}

function owner({ uid, gids: [group] }: ServiceUser): string {
  return group === undefined ? String(uid) : `${uid}:${group}`
}

/** The configuration itself was checked when it was loaded: an error in it ends the doctor before its checks. */
export const configurationCheck: Check = {
  name: 'configuration',
  run: async ({ loaded, env }) => [
    summary(loaded),
    ...emptyFile(loaded),
    ...privacyOf(loaded),
    ...receiverFaults(loaded.config),
    ...(loaded.file === undefined ? [] : examineUnitEnvironment(loaded.file, env)),
  ],
}

function summary({ config, file, settings }: LoadedConfig): CheckFinding {
  const changed = settings.filter(({ source }) => source !== 'default').length
  return fine(
    file ?? 'defaults',
    `modules ${config.modules.join(', ')}; ${changed} settings are not the default`,
  )
}

/** What is in the files of receivers is read after the configuration itself, at each start. */
function receiverFaults(config: Config): CheckFinding[] {
  try {
    openReceivers(config)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map(({ source, key, expected, got }) =>
      fault(source, 'receiver_unusable', { setting: key, reason: got ?? 'cannot be used', expected }),
    )
  }
}

/** A full disk leaves such a file, and with the defaults the platform uses another database. */
function emptyFile({ file }: LoadedConfig): CheckFinding[] {
  if (file === undefined || !isEmptyFile(file)) return []
  return [warning(file, 'configuration_empty')]
}

/** Nobody else may change the file, and one with secrets is for its owner, and perhaps a group, alone. */
function privacyOf({ config, file, settings: all }: LoadedConfig): CheckFinding[] {
  const secrets = all.filter((setting) => isSecret(setting) && setting.source.startsWith('file '))
  if (file === undefined) return []
  const mode = statSync(file).mode & 0o777
  const isWritable = (mode & OTHERS_WRITE) !== 0
  if (!isWritable && (secrets.length === 0 || (mode & 0o007) === 0)) return []
  const settings = secrets.map(({ key }) => key)
  // The service reads the file as a member of the group of its data.
  const group = statSync(config.dataDir, { throwIfNoEntry: false })?.gid
  const command = `${group === undefined ? '' : `chgrp ${group} ${file} && `}chmod u=rw,g=r,o= ${file}`
  return isWritable
    ? [fault(file, 'configuration_writable', { mode: text(mode), command })]
    : [warning(file, 'configuration_readable', { mode: text(mode), settings, command })]
}

function isSecret({ key }: EffectiveSetting): boolean {
  return Object.entries(SETTING_TABLE).some(([name, { secret }]) => name === key && secret === true)
}
