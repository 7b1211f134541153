import { existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../../../config/config.ts'
import { fault, fine, warning, type Check, type CheckFinding } from '../check.ts'
import { roomRemedy } from '../removable-files.ts'

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
  const values = { freeMib: mib(free), allMib: mib(all), remedy: roomRemedy(config, place) }
  if (free < ERROR_BYTES) return fault(place, 'disk_full', values)
  if (free < needed) return warning(place, 'disk_too_small', { ...values, neededMib: mib(needed) })
  return warning(place, 'disk_low', values)
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB)
}
