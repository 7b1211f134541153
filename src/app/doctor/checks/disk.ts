import { existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../../../config/config.ts'
import { fault, fine, warning, type Check, type CheckFinding } from '../check.ts'
import { findLogFiles, type LogFile } from '../log-files.ts'
import { inodesCommand, roomCommands } from '../removable-files.ts'

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
    const { type, bavail, blocks, bsize, ffree, files } = statfsSync(place)
    const databaseBytes =
      database.kind === 'sqlite' && existsSync(database.path) ? statSync(database.path).size : 0
    const findings = [
      space(config, place, { free: bavail * bsize, all: blocks * bsize, databaseBytes, logs }),
    ]
    // Some file systems have no fixed number of files.
    if (files > 0 && ffree < WARNING_SHARE * files) findings.push(inodeFinding(place, ffree, files))
    const network = NETWORK_FILE_SYSTEMS[type]
    if (network !== undefined && database.kind === 'sqlite')
      findings.push(fault(place, 'disk_of_network', { fileSystem: network }))
    return [...findings, ...logFindings(config, logs, place)]
  },
}

/** Without a free one SQLite cannot create its log at the next start. */
export function inodeFinding(place: string, free: number, all: number): CheckFinding {
  const report = free === 0 ? fault : warning
  return report(place, 'inodes_low', { free, all, command: inodesCommand(place) })
}

interface FreeSpace {
  readonly free: number
  readonly all: number
}

/** The platform serves all the same while its log is lost. */
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
    const [freeMib, allMib] = [mib(free), mib(all)] as const
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

interface Space extends FreeSpace {
  readonly databaseBytes: number
  readonly logs: readonly LogFile[]
}

function space(config: Config, place: string, { free, all, databaseBytes, logs }: Space): CheckFinding {
  const detail = `${mib(free)} of ${mib(all)} MiB are free`
  const needed = BACKUP_FACTOR * databaseBytes
  if (free >= Math.max(ERROR_BYTES, needed, WARNING_SHARE * all)) return fine(place, detail)
  const values = { freeMib: mib(free), allMib: mib(all), commands: roomCommands(config, place, logs) }
  if (free < ERROR_BYTES) return fault(place, 'disk_full', values)
  if (free < needed) return warning(place, 'disk_too_small', { ...values, neededMib: mib(needed) })
  return warning(place, 'disk_low', values)
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB)
}
