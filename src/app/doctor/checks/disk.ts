import { existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
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

/** The file system of the data directory. */
export const diskCheck: Check = {
  name: 'disk',
  run: async ({ loaded: { config } }) => {
    const { database, dataDir } = config
    const place = existingParent(dataDir)
    const { type, bavail, blocks, bsize, ffree, files } = statfsSync(place)
    const databaseBytes =
      database.kind === 'sqlite' && existsSync(database.path) ? statSync(database.path).size : 0
    const findings = [space(place, { free: bavail * bsize, all: blocks * bsize, databaseBytes })]
    // Some file systems have no fixed number of files.
    if (files > 0 && ffree < WARNING_SHARE * files)
      findings.push(warning(place, `${ffree} of ${files} inodes are free`, 'remove files that nobody needs'))
    const network = NETWORK_FILE_SYSTEMS[type]
    if (network !== undefined && database.kind === 'sqlite')
      findings.push(fault(place, `is on ${network}`, 'move data_dir to a local disk: SQLite needs one'))
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

function space(place: string, { free, all, databaseBytes }: Space): CheckFinding {
  const detail = `${mib(free)} of ${mib(all)} MiB are free`
  if (free < ERROR_BYTES) return fault(place, detail, 'free space now: writes fail when the disk is full')
  if (free < BACKUP_FACTOR * databaseBytes)
    return warning(
      place,
      `${detail}; a data backup needs ${mib(BACKUP_FACTOR * databaseBytes)}`,
      'free space',
    )
  return free < WARNING_SHARE * all ? warning(place, detail, 'free space soon') : fine(place, detail)
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB)
}
