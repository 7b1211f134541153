import { existsSync, globSync, readdirSync, readlinkSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../../../config/config.ts'
import { shellWord } from '../../../kernel/text.ts'
import { backupFiles } from '../../lost-database.ts'
import { fault, fine, warning, type Check, type CheckFinding } from '../check.ts'

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

/** The file systems of the data directory and of the log. */
export const diskCheck: Check = {
  name: 'disk',
  run: async ({ loaded: { config }, ownProcesses }) => {
    const { database, dataDir } = config
    const place = existingParent(dataDir)
    const logs = findLogFiles(await ownProcesses())
    const { type, ffree, files } = statfsSync(place)
    const findings = [spaceFinding(config, place, logs)]
    // Some file systems have no fixed number of files.
    if (files > 0 && ffree < WARNING_SHARE * files) findings.push(inodeFinding(place, ffree, files))
    const network = NETWORK_FILE_SYSTEMS[type]
    if (network !== undefined && database.kind === 'sqlite')
      findings.push(fault(place, 'disk_of_network', { fileSystem: network }))
    return [...findings, ...logFindings(config, logs, place)]
  },
}

/** Without a free inode SQLite cannot create its log at the next start. */
export function inodeFinding(place: string, free: number, all: number): CheckFinding {
  const finding = free === 0 ? fault : warning
  return finding(place, 'inodes_low', { free, all, command: inodesCommand(place) })
}

interface FreeSpace {
  readonly free: number
  readonly all: number
}

/** Only warnings: the platform serves all the same while its log is lost. */
export function logFindings(
  config: Config,
  logs: readonly LogFile[],
  place: string,
  spaceAt: (path: string) => FreeSpace = readSpace,
): CheckFinding[] {
  const device = statSync(place).dev
  return logs.flatMap(({ path, processId, isDeleted }) => {
    const subject = `log ${path}`
    if (isDeleted) return [warning(subject, 'log_deleted', { process: String(processId) })]
    // The finding of the data directory is that of the log, too.
    if (statSync(path).dev === device) return []
    const { free, all } = spaceAt(path)
    const [freeMib, allMib] = [mib(free), mib(all)]
    // A disk for logs alone may be small.
    if (free >= Math.max(Math.min(ERROR_BYTES, all / 2), WARNING_SHARE * all))
      return [fine(subject, `${freeMib} of ${allMib} MiB are free`)]
    return [warning(subject, 'log_disk_low', { freeMib, allMib, commands: roomCommands(config, path, logs) })]
  })
}

function readSpace(path: string): FreeSpace {
  const { bavail, blocks, bsize } = statfsSync(path)
  return { free: bavail * bsize, all: blocks * bsize }
}

function existingParent(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : existingParent(dirname(path))
}

function spaceFinding(config: Config, place: string, logs: readonly LogFile[]): CheckFinding {
  const { free, all } = readSpace(place)
  const [freeMib, allMib] = [mib(free), mib(all)]
  const { database } = config
  const file = database.kind === 'sqlite' ? statSync(database.path, { throwIfNoEntry: false }) : undefined
  const needed = BACKUP_FACTOR * (file?.size ?? 0)
  if (free >= Math.max(ERROR_BYTES, needed, WARNING_SHARE * all))
    return fine(place, `${freeMib} of ${allMib} MiB are free`)
  const values = { freeMib, allMib, commands: roomCommands(config, place, logs) }
  if (free < ERROR_BYTES) return fault(place, 'disk_full', values)
  if (free < needed) return warning(place, 'disk_too_small', { ...values, neededMib: mib(needed) })
  return warning(place, 'disk_low', values)
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB)
}

/** Where systemd keeps the journal between starts of the host. */
const JOURNAL = '/var/log/journal'

const DELETED = ' (deleted)'

/** A file to which the standard output of a process goes, or the directory of the journal. */
export interface LogFile {
  readonly path: string
  /** The process that writes to it; undefined for the journal. */
  readonly processId: number | undefined
  /** Its space becomes free when the process ends. */
  readonly isDeleted: boolean
}

/**
 * The files that the standard output of these processes goes to. Without such a file it is the journal, unless a process writes to
 * something else: the program that reads a pipe is not known. Only root can see the output of a process of another user.
 */
export function findLogFiles(processIds: readonly number[], journal = JOURNAL): LogFile[] {
  const outputs = processIds.map((processId) => ({ processId, output: outputOf(processId) }))
  const files = outputs.flatMap(({ processId, output }) => fileOf(processId, output))
  const usesJournal = outputs.every(({ output }) => output === undefined || output.startsWith('socket:'))
  if (files.length > 0 || !usesJournal || !existsSync(journal)) return files
  return [{ path: journal, processId: undefined, isDeleted: false }]
}

function outputOf(processId: number): string | undefined {
  try {
    return readlinkSync(`/proc/${processId}/fd/1`)
  } catch {
    return undefined
  }
}

function fileOf(processId: number, output: string | undefined): LogFile[] {
  if (output === undefined) return []
  const isDeleted = output.endsWith(DELETED)
  const path = isDeleted ? output.slice(0, -DELETED.length) : output
  const isFile = statSync(`/proc/${processId}/fd/1`, { throwIfNoEntry: false })?.isFile() === true
  return isFile ? [{ path, processId, isDeleted }] : []
}

type Places = Pick<Config, 'database' | 'dataDir'>

const PACKAGES = '/var/cache/apt/archives'
/** Smaller files are not worth a line. */
const LEAST_BYTES = 16 * MIB
const MOST_FILES = 10_000
const MOST_COMMANDS = 4

/** The commands that remove something from the disk of a directory or file; with nothing to remove, the one that shows what is large. */
export function roomCommands(
  config: Places,
  place: string,
  logs: readonly LogFile[] = [],
): readonly string[] {
  const found = removable(config, place, logs).filter(({ bytes }) => bytes >= LEAST_BYTES)
  if (found.length === 0) return [`du -xh ${shellWord(mountPointOf(place))} | sort -h | tail`]
  return found
    .slice(0, MOST_COMMANDS)
    .map(({ bytes, command }) => `${command} (${Math.round(bytes / MIB)} MiB)`)
}

/** Shows the directories with the most files on the file system of the place. */
function inodesCommand(place: string): string {
  return `du -x --inodes ${shellWord(mountPointOf(place))} | sort -n | tail`
}

/**
 * What takes space on the disk and is not needed for the platform to run, and the command that removes it, the largest first.
 * The newest data backup stays.
 */
function removable({ database, dataDir }: Places, place: string, logs: readonly LogFile[]) {
  const removalOf = (program: string) => (path: string) => {
    return { path, bytes: sizeOf(path), command: `${program} ${shellWord(path)}` }
  }
  const former = database.kind === 'sqlite' ? globSync(`${database.path}.before-*`) : []
  const [, ...older] = backupFiles({ database, dataDir })
  const written = logs.filter(({ isDeleted }) => !isDeleted).map(({ path }) => path)
  const device = deviceOf(place)
  return [
    ...[...former, ...older.map(({ path }) => path)].map(removalOf('rm')),
    // `rm` would free nothing: the process goes on writing to the removed file.
    ...written.map(removalOf('truncate -s 0')),
    { path: JOURNAL, bytes: sizeBelow(JOURNAL), command: 'journalctl --vacuum-size=200M' },
    { path: PACKAGES, bytes: sizeBelow(PACKAGES), command: 'apt-get clean' },
  ]
    .filter(({ path }) => deviceOf(path) === device)
    .toSorted((a, b) => b.bytes - a.bytes)
}

function sizeBelow(directory: string): number {
  try {
    const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).slice(0, MOST_FILES)
    return names.reduce((sum, name) => sum + sizeOf(join(directory, name)), 0)
  } catch {
    // Another user cannot look into it.
    return 0
  }
}

function sizeOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? stats.blocks * 512 : 0
}

function deviceOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.dev
}

/** The highest directory above the path that is on its file system. */
function mountPointOf(path: string): string {
  const above = dirname(path)
  return above === path || deviceOf(above) !== deviceOf(path) ? path : mountPointOf(above)
}
