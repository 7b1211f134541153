import { lstatSync, readdirSync, statSync, type Stats } from 'node:fs'
import { basename, join, dirname, resolve } from 'node:path'
import { ConfigError } from '../../../config/config-error.ts'
import type { Config, LoadedConfig, EffectiveSetting } from '../../../config/config.ts'
import { isEmptyFile } from '../../../config/toml-file.ts'
import { SETTING_TABLE } from '../../../config/schema.ts'
import { isOnlyGateway } from '../../../config/value-types.ts'
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
import { modeText, ownerOf, sudoName } from '../service.ts'
import { examineUnitEnvironment } from '../unit-environment.ts'
import { findOwnListener } from './network.ts'

// A data directory has some hundred files; the limit is for a setting that names another directory by mistake.
const MOST_FILES = 10_000
// With more names the sentence would be too long.
const MOST_NAMES = 5
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
    const { userId } = parts
    const { config } = parts.loaded
    const { dataDir } = config
    const broken = brokenLink(dataDir)
    if (broken) return [fault(dataDir, 'data_dir_broken', { ...broken })]
    const root = statSync(dataDir, { throwIfNoEntry: false })
    if (!root) return [await missingDirectory(parts)]
    if (!root.isDirectory()) return [fault(dataDir, 'data_dir_no_directory')]
    if (userId !== undefined && userId !== 0 && userId !== root.uid)
      return [await directoryOfOther(root, userId, parts)]
    const entries = [...entriesBelow(dataDir)]
    const faults = [...(await filesOfOthers(root, entries, parts)), ...wrongModes(dataDir, entries)]
    const findings = [
      await copiedByRootFinding(dataDir, root, parts),
      openDirectoryFinding(dataDir, root),
      ...faults,
    ]
    if (faults.length === 0) {
      if (!config.auth.jwtSecrets) findings.push(await unusableKeyFinding(parts))
      findings.push(await otherKeyFinding(parts), await auditKeyFinding(parts), await sealFinding(parts))
    }
    const problems = findings.filter((finding) => finding !== undefined)
    if (problems.length > 0) return problems
    const files = formatCount(entries.length, 'file')
    return [fine(dataDir, `${files}, all of the user ${root.uid}, as the directory`)]
  },
}

/** A database of PostgreSQL that was served before needs the key that was in the directory. */
async function missingDirectory(parts: DoctorParts): Promise<CheckFinding> {
  const { config } = parts.loaded
  const lost = config.auth.jwtSecrets ? undefined : await unusableKeyFinding(parts)
  if (lost) return lost
  const isNew = (await findOwnListener(config)) === undefined
  return skipped(config.dataDir, isNew ? NOT_MADE_YET : 'does not exist: see the finding of the database')
}

/**
 * The data directory belongs to another user than the one who runs the doctor. Files of root are given to the user of the
 * service, so that the platform need not run as root only because root has copied them. The user who runs the doctor gets
 * them only where no service is known and no platform answers.
 */
async function directoryOfOther(
  { uid }: Stats,
  userId: number,
  { loaded, serviceUser }: DoctorParts,
): Promise<CheckFinding> {
  const { config, file } = loaded
  const { dataDir } = config
  const user = await serviceUser()
  if (uid === 0 && user?.uid === 0)
    return skipped(dataDir, 'belongs to root, as which the platform runs: run this command as root')
  // A platform that answers can use its files.
  const isServed = user === undefined && (await findOwnListener(config)) !== undefined
  if (uid === 0 && !isServed) {
    const next = user ?? { uid: userId, gids: [process.getgid?.() ?? userId] }
    const command = `chown -R ${ownerOf(next)} ${shellWord(dataDir)}`
    return fault(dataDir, 'data_dir_of_root', { owner: String(uid), command })
  }
  if (user !== undefined && user.uid !== uid)
    return skipped(
      dataDir,
      `belongs to the user ${uid}, and not to the user ${user.uid} of the service: see "access"`,
    )
  const option = file === undefined ? '' : ` --config ${shellWord(resolve(file))}`
  const command = `sudo -u ${await sudoName(uid)} platform doctor${option}`
  return fault(dataDir, 'data_dir_of_other', { owner: String(uid), command })
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

function openDirectoryFinding(path: string, { mode }: Stats): CheckFinding | undefined {
  if ((mode & 0o007) === 0) return undefined
  return warning(path, 'data_dir_open', { mode: modeText(mode), command: `chmod o= ${shellWord(path)}` })
}

/** Where no unit and no process names the user of the service, the owner of the directory above is a hint. */
async function copiedByRootFinding(
  dataDir: string,
  { uid }: Stats,
  { serviceUser }: DoctorParts,
): Promise<CheckFinding | undefined> {
  const above = dirname(resolve(dataDir))
  const { uid: owner, gid } = statSync(above)
  if (uid !== 0 || owner === 0 || (await serviceUser()) !== undefined) return undefined
  const command = `chown -R ${owner}:${gid} ${shellWord(dataDir)}`
  return warning(dataDir, 'data_dir_copied', { above, owner: String(owner), command })
}

/** Files of another user than the owner of the directory, such as those of a copy, or of a command that root has run. */
async function filesOfOthers(
  root: Stats,
  entries: readonly Entry[],
  { loaded, serviceUser }: DoctorParts,
): Promise<CheckFinding[]> {
  const { dataDir } = loaded.config
  const owners = Map.groupBy(entries, ({ stats }) => stats.uid)
  owners.delete(root.uid)
  const user = await serviceUser()
  return [...owners].map(([uid, files]) => {
    const names = files.slice(0, MOST_NAMES).map(({ path }) => path)
    const users = { user: String(uid), owner: String(root.uid) }
    // All files get one owner: that of the directory. If it is root, the user of the service, or else the owner of these files.
    const owner = root.uid === 0 ? (files[0]?.stats ?? root) : root
    const next = root.uid === 0 && user ? user : { uid: owner.uid, gids: [owner.gid] }
    const command = `chown -R ${ownerOf(next)} ${shellWord(dataDir)}`
    return fault(dataDir, 'files_of_other', { count: files.length, files: names, ...users, command })
  })
}

/** After a command such as `chmod -R` all files have the same fault. */
function wrongModes(dataDir: string, entries: readonly Entry[]): CheckFinding[] {
  // The mode of a link means nothing.
  const files = entries.filter(({ stats }) => !stats.isSymbolicLink())
  const unreadable = files.filter(({ stats }) => (stats.mode & OWNER_READS) === 0)
  const writable = files.filter(({ stats }) => (stats.mode & OTHERS_WRITE) !== 0)
  const keys = files.filter(({ path, stats }) => isKey(path) && (stats.mode & GROUP_OR_OTHERS) !== 0)
  return [
    ...wrongMode(dataDir, 'files_unreadable', 'chmod -R u+rwX', unreadable),
    ...wrongMode(dataDir, 'files_writable', 'chmod -R o=', writable),
    ...keys.map(({ path, stats }) =>
      fault(path, 'key_readable', { mode: modeText(stats.mode), command: `chmod 600 ${shellWord(path)}` }),
    ),
  ]
}

/** One finding for all files with the same fault. Its command names them, or the whole directory if there are many. */
function wrongMode(
  dataDir: string,
  code: FindingCode,
  program: string,
  found: readonly Entry[],
): CheckFinding[] {
  if (found.length === 0) return []
  const files = found.slice(0, MOST_NAMES).map(({ path }) => path)
  const command = `${program} ${(found.length > MOST_NAMES ? [dataDir] : files).map(shellWord).join(' ')}`
  return [fault(dataDir, code, { count: found.length, files, command })]
}

function isKey(path: string): boolean {
  return ['jwt-secret', 'identity-key', 'audit-key'].includes(basename(path))
}

/** The platform does not start with a key that it refuses, nor without the key of the database. */
async function unusableKeyFinding({ loaded, knownState }: DoctorParts): Promise<CheckFinding | undefined> {
  const { dataDir } = loaded.config
  const file = join(dataDir, 'jwt-secret')
  try {
    if (readJwtSecret(dataDir)) return undefined
  } catch (error) {
    return refusedKeyFinding(file, error)
  }
  const { hasSigningKey, processes = [] } = await knownState()
  return hasSigningKey === true ? fault(file, 'key_lost', lostKey(dataDir, processes)) : undefined
}

/** A key of another installation, or one that was put back while the platform runs with another. */
async function otherKeyFinding({
  loaded,
  clock,
  knownState,
}: DoctorParts): Promise<CheckFinding | undefined> {
  const { config } = loaded
  const { keys } = await knownState()
  try {
    const keyProblem = keys && keyFault(config, keys, clock.now())
    const subject = config.auth.jwtSecrets ? 'auth.jwt_secret' : join(config.dataDir, 'jwt-secret')
    if (!keyProblem) return undefined
    const { code, values } = keyProblem
    return (code === 'key_changed' ? fault : warning)(subject, code, values)
  } catch (error) {
    // The finding of the file names the key that cannot be used.
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

/** The audit trail does not contain a seal that this host has kept: a person has to accept the trail as it is. */
async function sealFinding({ loaded, knownState }: DoctorParts): Promise<CheckFinding | undefined> {
  const { missingSeal } = await knownState()
  if (!missingSeal) return undefined
  const file = join(loaded.config.dataDir, 'audit-seal')
  return fault(file, 'seal_missing', { seal: formatSeal(missingSeal) })
}

function refusedKeyFinding(file: string, error: unknown): CheckFinding {
  if (!(error instanceof ConfigError)) throw error
  const [problem] = error.problems
  return fault(file, 'key_refused', { reason: String(problem?.got), expected: String(problem?.expected) })
}

/** The worker makes a key where there is none, but pages that another one has sealed cannot be verified with it. */
async function auditKeyFinding({ loaded, knownState }: DoctorParts): Promise<CheckFinding | undefined> {
  const { dataDir } = loaded.config
  const file = join(dataDir, 'audit-key')
  try {
    readAuditKeys(dataDir)
  } catch (error) {
    return refusedKeyFinding(file, error)
  }
  const { lostAuditKeys = [] } = await knownState()
  if (lostAuditKeys.length === 0) return undefined
  return warning(file, 'audit_key_lost', { keys: lostAuditKeys })
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

/** The payment channels that a process with this configuration opens: a gateway opens none. */
export function ownChannels({ modules, payments }: Config): Config['payments']['channels'] {
  return isOnlyGateway(modules) ? [] : payments.channels
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
    ? [fault(file, 'configuration_writable', { mode: modeText(mode), command })]
    : [warning(file, 'configuration_readable', { mode: modeText(mode), settings, command })]
}

/** Whether the value is secret: an address only if it contains a login. */
function isSecret({ key, text }: EffectiveSetting): boolean {
  return (
    text.includes(REDACTED) &&
    Object.entries(SETTING_TABLE).some(([name, { secret }]) => name === key && secret === true)
  )
}
