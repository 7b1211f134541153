import { statfs } from 'node:fs/promises'
import { BackupError } from '../errors.ts'

// docs/specification.md, Backup package
const DATABASE_FACTOR = 1.2

export interface PackageVolume {
  readonly databaseBytes: number
  readonly logBytes: number
}

/** Throws `no_space` when the file system of the directory has too little space for a package. */
export async function requireFreeSpace(
  directory: string,
  { databaseBytes, logBytes }: PackageVolume,
): Promise<void> {
  const { bavail, bsize } = await statfs(directory)
  const [free, needed] = [bavail * bsize, Math.ceil(databaseBytes * DATABASE_FACTOR + logBytes)]
  if (free >= needed) return
  throw new BackupError(
    'no_space',
    `${directory} has ${free} bytes of free space; a package needs ${needed}.`,
  )
}
