import { lstatSync, readdirSync, statSync, type Stats } from 'node:fs'
import { basename, join, dirname, resolve } from 'node:path'
import { ConfigError } from '../../../config/config-error.ts'
import type { Config, LoadedConfig, EffectiveSetting } from '../../../config/config.ts'
import { isEmptyFile } from '../../../config/toml-file.ts'
import { SETTING_TABLE } from '../../../config/schema.ts'
import { readChannelSecrets } from '../../../config/payments.ts'
import { readAuditKeys, readJwtSecret } from '../../../config/secrets.ts'
import { formatSeal } from '../../../domains/audit/index.ts'
import { brokenLink } from '../../../store/dialects/sqlite-errors.ts'
import { openReceivers } from '../../receivers.ts'
import { keyFault, lostKey } from '../../signing-keys.ts'
import { REDACTED } from '../../../kernel/secret.ts'
import { formatCount, shellWord } from '../../../kernel/text.ts'
import {
  fault,
  fine,
  NOT_MADE_YET,
  skipped,
  warning,
  type Check,
  type CheckFinding,
  type DoctorParts,
} from '../check.ts'
import type { FindingCode } from '../findings.ts'
import { mayAccess, sudoName, type ServiceUser } from '../service-user.ts'
import { examineUnitEnvironment } from '../unit-environment.ts'
import { findOwnListener } from './network.ts'

// A directory of data has some hundred files; the bound is for one that is something else.
const MOST_FILES = 10_000
// With more names the sentence would be too long.
const NAMED = 5
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
    if (userId !== undefined && userId !== 0 && userId !== root.uid)
      return [await ofOther(root, userId, parts)]
    const entries = [...entriesBelow(dataDir)]
    const faults = [...(await ofOthers(root, entries, parts)), ...wrongModes(dataDir, entries)]
    const findings = [await copiedByRoot(dataDir, root, parts), modeOfRoot(dataDir, root), ...faults]
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
      : [
          fine(
            dataDir,
            `${formatCount(entries.length, 'file')}, all of the user ${idOf(root.uid)}, as the directory`,
          ),
        ]
  },
}

/** A database of PostgreSQL that was served before needs the key that was in the directory. */
async function missingDirectory({ loaded: { config }, database }: DoctorParts): Promise<CheckFinding> {
  const lost = config.auth.jwtSecrets ? undefined : await secretFinding(config.dataDir, database)
  if (lost) return lost
  const isNew = (await findOwnListener(config)) === undefined
  return skipped(config.dataDir, isNew ? NOT_MADE_YET : 'does not exist: see the finding of the database')
}

/**
 * Nobody should run the platform as root because a copy of its files, which root has made, belongs to root; nobody should take
 * the files of another user because it is who looks.
 */
async function ofOther(
  { uid }: Stats,
  userId: number,
  { loaded, serviceUser }: DoctorParts,
): Promise<CheckFinding> {
  const { config, file } = loaded
  const { dataDir } = config
  const user = await serviceUser()
  if (uid === 0 && user?.uid === 0)
    return skipped(dataDir, 'belongs to root, as which the platform runs: run this command as root')
  // The program that answers can use them.
  const isServed = user === undefined && (await findOwnListener(config)) !== undefined
  if (uid === 0 && !isServed) {
    const next = user ?? { uid: userId, gids: [process.getgid?.() ?? userId] }
    const command = `chown -R ${owner(next)} ${shellWord(dataDir)}`
    return fault(dataDir, 'data_dir_of_root', { owner: idOf(uid), command })
  }
  if (user !== undefined && user.uid !== uid)
    return skipped(
      dataDir,
      `belongs to the user ${idOf(uid)}, and not to the user ${idOf(user.uid)} of the service: see "access"`,
    )
  const option = file === undefined ? '' : ` --config ${shellWord(resolve(file))}`
  const command = `sudo -u ${await sudoName(uid)} platform doctor${option}`
  return fault(dataDir, 'data_dir_of_other', { owner: idOf(uid), command })
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
  return warning(path, 'data_dir_open', { mode: text(mode), command: `chmod o= ${shellWord(path)}` })
}

/** Of a program that runs, its user is known; else the owner of the directory above is a hint. */
async function copiedByRoot(
  dataDir: string,
  { uid }: Stats,
  { serviceUser }: DoctorParts,
): Promise<CheckFinding | undefined> {
  const above = dirname(resolve(dataDir))
  const { uid: owner, gid } = statSync(above)
  if (uid !== 0 || owner === 0 || (await serviceUser()) !== undefined) return undefined
  const command = `chown -R ${owner}:${gid} ${shellWord(dataDir)}`
  return warning(dataDir, 'data_dir_copied', { above, owner: idOf(owner), command })
}

/** Such as those of a copy, or of a command that root has run. */
async function ofOthers(
  root: Stats,
  entries: readonly Entry[],
  { loaded, serviceUser }: DoctorParts,
): Promise<CheckFinding[]> {
  const { dataDir } = loaded.config
  const owners = Map.groupBy(entries, ({ stats }) => stats.uid)
  owners.delete(root.uid)
  const user = await serviceUser()
  return [...owners].map(([uid, those]) => {
    const [{ stats: first } = { stats: root }] = those
    const files = those.slice(0, NAMED).map(({ path }) => path)
    const users = { user: idOf(uid), owner: idOf(root.uid) }
    // Root can use the files of another user, who cannot use those of root.
    const next = root.uid === 0 ? (user ?? idsOf(first)) : idsOf(root)
    const command = `chown -R ${owner(next)} ${shellWord(dataDir)}`
    return fault(dataDir, 'files_of_other', { count: those.length, files, ...users, command })
  })
}

function idsOf({ uid, gid }: Stats): ServiceUser {
  return { uid, gids: [gid] }
}

/** After a command such as `chmod -R` all files have the same fault. */
function wrongModes(dataDir: string, entries: readonly Entry[]): CheckFinding[] {
  // The mode of a link means nothing.
  const files = entries.filter(({ stats }) => !stats.isSymbolicLink())
  const unreadable = files.filter(({ stats }) => (stats.mode & OWNER_READS) === 0)
  const writable = files.filter(({ stats }) => (stats.mode & OTHERS_WRITE) !== 0)
  const keys = files.filter(({ path, stats }) => isKey(path) && (stats.mode & GROUP_OR_OTHERS) !== 0)
  return [
    ...together(dataDir, 'files_unreadable', 'chmod -R u+rwX', unreadable),
    ...together(dataDir, 'files_writable', 'chmod -R o=', writable),
    ...keys.map(({ path, stats }) =>
      fault(path, 'key_readable', { mode: text(stats.mode), command: `chmod 600 ${shellWord(path)}` }),
    ),
  ]
}

/** The command is for the files, or for the whole directory if there are many. */
function together(
  dataDir: string,
  code: FindingCode,
  program: string,
  found: readonly Entry[],
): CheckFinding[] {
  if (found.length === 0) return []
  const files = found.slice(0, NAMED).map(({ path }) => path)
  const command = `${program} ${(found.length > NAMED ? [dataDir] : files).map(shellWord).join(' ')}`
  return [fault(dataDir, code, { count: found.length, files, command })]
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
    return fault(join(dataDir, 'jwt-secret'), 'key_lost', lostKey(dataDir, facts.activity.processes ?? []))
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

const [READ, WRITE, ENTER] = [4, 2, 1]

/** Whether the user of the service can use the files that it needs; the doctor is often run by root, which can use all. */
export const accessCheck: Check = {
  name: 'access',
  run: async ({ loaded, serviceUser, units }) => {
    const user = await serviceUser()
    if (user === undefined) return [await unknownUser(loaded.config, units)]
    const faults = [
      ...configuration(user, loaded),
      ...privateFiles(user, loaded),
      ...tlsFiles(user, loaded),
      ...dataDirectory(user, loaded),
    ]
    return faults.length > 0 ? faults : [fine(`user ${user.uid}`, 'can use configuration and data')]
  },
}

/** Root can use all, so nothing can be said for it unless the program runs as root. */
async function unknownUser({ dataDir }: Config, units: DoctorParts['units']): Promise<CheckFinding> {
  if ((await units()).length > 0) return skipped('user of the service', 'does not exist: see "service"')
  const root = statSync(dataDir, { throwIfNoEntry: false })
  if (!root) return skipped('user of the service', 'there is neither a unit nor a data directory')
  const command = `chown -R USER: ${shellWord(dataDir)}`
  return skipped(
    'user of the service',
    `is not known: no unit has this configuration, no process is known, and ${dataDir} belongs to root. If root has copied it for another user, run: ${command}`,
  )
}

/** The remedy lets the group of the service read the file; only its owner may change it. */
function configuration(user: ServiceUser, { file }: LoadedConfig): CheckFinding[] {
  if (file === undefined) return []
  const mend = `${giveTo(user, file)} && chmod u=rw,g=r,o= ${shellWord(file)}`
  return [...unreachable(user, file), ...lacking(user, file, READ, mend)]
}

/** Nobody but their owner may read them. */
function privateFiles(user: ServiceUser, { config }: LoadedConfig): CheckFinding[] {
  const { gateway, receivers } = config
  const paths = [
    gateway.mirrorTokenFile,
    ...receivers.flatMap(({ urlFile, secretFile }) => [urlFile, secretFile]),
    ...ownChannels(config).map(({ secretsFile }) => secretsFile),
  ]
  return paths
    .filter((path) => path !== undefined)
    .flatMap((path) => [
      ...unreachable(user, path),
      ...lacking(user, path, READ, `chown ${owner(user)} ${shellWord(path)}`),
    ])
}

/** Often root renews them. Their group may read them. */
function tlsFiles(user: ServiceUser, { config }: LoadedConfig): CheckFinding[] {
  const files = (['api', 'gateway'] as const)
    .filter((module) => config.modules.includes(module))
    .flatMap((module) => [config[module].tls.certFile, config[module].tls.keyFile])
    .filter((path) => path !== undefined)
  return [...new Set(files)].flatMap((path) => {
    const mend = `${giveTo(user, path)} && chmod u+r,g+r ${shellWord(path)}`
    return [...unreachable(user, path), ...lacking(user, path, READ, mend)]
  })
}

/** The command that lets the group of the user have a file, or the user who has none. */
function giveTo({ uid, gids: [group] }: ServiceUser, path: string): string {
  return `${group === undefined ? `chown ${uid}` : `chgrp ${group}`} ${shellWord(path)}`
}

function dataDirectory(user: ServiceUser, { config: { dataDir } }: LoadedConfig): CheckFinding[] {
  const name = shellWord(dataDir)
  const mend = `chown -R ${owner(user)} ${name} && chmod u=rwx ${name}`
  return [...unreachable(user, dataDir), ...lacking(user, dataDir, READ | WRITE | ENTER, mend)]
}

/** The nearest directory above the path that the user cannot enter. */
function unreachable(user: ServiceUser, path: string): CheckFinding[] {
  const above = dirname(path)
  if (above === path) return []
  const nearest = lacking(user, above, ENTER, `chmod o+x ${shellWord(above)}`, 'access_denied_above')
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
    ...overriddenSettings(loaded),
    ...emptyFile(loaded),
    ...privacyOf(loaded),
    ...unusableFiles(() => openReceivers(loaded.config)),
    ...channelFaults(loaded.config),
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

function overriddenSettings({ settings }: LoadedConfig): CheckFinding[] {
  return settings.flatMap(({ key, source, overrides }) =>
    overrides === undefined ? [] : [fine(source, `overrides ${key} of ${overrides}`)],
  )
}

/** What is in the files of receivers and of payment channels is read after the configuration itself, at each start. */
function unusableFiles(read: () => unknown): CheckFinding[] {
  try {
    read()
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map(({ source, key, expected, got }) =>
      fault(source, 'secrets_unusable', { setting: key, reason: got ?? 'cannot be used', expected }),
    )
  }
}

/** A gateway opens no payments. */
function ownChannels({ modules, payments }: Config): Config['payments']['channels'] {
  return modules.some((module) => module !== 'gateway') ? payments.channels : []
}

function channelFaults(config: Config): CheckFinding[] {
  return ownChannels(config).flatMap((channel) => unusableFiles(() => readChannelSecrets(channel)))
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
  const name = shellWord(file)
  const command = `${group === undefined ? '' : `chgrp ${group} ${name} && `}chmod u=rw,g=r,o= ${name}`
  return isWritable
    ? [fault(file, 'configuration_writable', { mode: text(mode), command })]
    : [warning(file, 'configuration_readable', { mode: text(mode), settings, command })]
}

/** An address without a login is none. */
function isSecret({ key, text: shown }: EffectiveSetting): boolean {
  return (
    shown.includes(REDACTED) &&
    Object.entries(SETTING_TABLE).some(([name, { secret }]) => name === key && secret === true)
  )
}
