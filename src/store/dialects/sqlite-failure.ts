import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readlinkSync,
  statfsSync,
  statSync,
  type StatsFs,
} from 'node:fs'
import { dirname } from 'node:path'
import { errorMessage } from '../../kernel/errors.ts'
import { WriteLockHeld } from '../unavailable.ts'
import { isBusy, isDamaged, isFull } from './sqlite-errors.ts'
import { shellWord } from '../../kernel/text.ts'

/** Why a database file cannot be used, and what to do; both without a full stop. */
export interface SqliteFailure {
  readonly reason: string
  readonly remedy: string
}

/** What the explanation asks the operating system. */
interface FileSystem {
  /** Throws an error with a code when this process has no such access. */
  access(path: string, mode: number): void
  space(path: string): Pick<StatsFs, 'blocks' | 'bavail' | 'files' | 'ffree'>
}

const FILE_SYSTEM: FileSystem = { access: accessSync, space: (path) => statfsSync(path) }

const RESTORE = 'Stop the platform and restore the last backup: platform data restore FILE'
const SEE_KERNEL = 'Look for errors of the disk in the log of the kernel (dmesg)'

/**
 * Explains an error of the database at that path. SQLite itself says only "unable to open database file" or "disk I/O
 * error" for a wrong owner, a full disk and a read-only file system.
 */
export function explainSqliteFailure(path: string, error: unknown, system = FILE_SYSTEM): SqliteFailure {
  const reason = errorMessage(error).replace(/\.$/, '')
  if (isDamaged(error)) return { reason, remedy: RESTORE }
  if (isBusy(error) || error instanceof WriteLockHeld)
    return { reason, remedy: `End the program that keeps the file locked (fuser -v ${path} names it)` }
  return (
    brokenLink(dirname(path)) ??
    unwritablePlace(path, system) ??
    fullDisk(path, error, system) ??
    withoutInode(dirname(path), system) ?? { reason, remedy: SEE_KERNEL }
  )
}

/** A symbolic link to what is not there, such as a directory on a disk that is not mounted. */
export function brokenLink(path: string): SqliteFailure | undefined {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  if (!isLink || existsSync(path)) return undefined
  return {
    reason: `${path} is a link to ${readlinkSync(path)}, which does not exist`,
    remedy: 'Mount the disk that has it, or correct the link',
  }
}

/** The first of the directory and the files of the database that this process cannot write. */
function unwritablePlace(path: string, system: FileSystem): SqliteFailure | undefined {
  const places = [dirname(path), path, `${path}-wal`, `${path}-shm`].filter((place) => existsSync(place))
  for (const place of places) {
    const code = accessFailure(place, system)
    if (code === 'EROFS')
      return {
        reason: `${place} is on a read-only file system`,
        remedy: `If findmnt -T ${place} shows rw, the unit of the service does not let it write there ("platform doctor" has the command); else look for errors of the disk in the log of the kernel (dmesg), and mount it writable`,
      }
    if (code !== undefined) return wrongOwner(place, path)
  }
  return undefined
}

function accessFailure(place: string, { access }: FileSystem): string | undefined {
  try {
    access(place, constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : errorMessage(error)
  }
}

/** A process of the service needs the files; a person who runs a command must not take them from it. */
function wrongOwner(place: string, path: string): SqliteFailure {
  const [user, group] = [process.getuid?.(), process.getgid?.()]
  const { uid } = statSync(place)
  return {
    reason: `this process runs as the user ${user} and cannot write ${place}, which belongs to the user ${uid}`,
    remedy: `If the platform itself runs as the user ${user}, run as root: chown -R ${user}:${group} ${shellWord(dirname(path))}; else run this command as the user ${uid} (sudo -u '#${uid}' …)`,
  }
}

function fullDisk(path: string, error: unknown, { space }: FileSystem): SqliteFailure | undefined {
  const directory = dirname(path)
  return isFull(error) || isWithoutSpace(directory, space)
    ? {
        reason: `the disk of ${directory} is full`,
        remedy: 'Make room on it: "platform doctor" names what can be removed',
      }
    : undefined
}

/** No file can be made there, however much space is free. */
function withoutInode(directory: string, { space }: FileSystem): SqliteFailure | undefined {
  if (!existsSync(directory)) return undefined
  const { files, ffree } = space(directory)
  // Some file systems have no fixed number of files.
  if (files === 0 || ffree > 0) return undefined
  return {
    reason: `the file system of ${directory} takes no more files: it has no free inode`,
    remedy: 'Remove files that nobody needs: "platform doctor" shows how to find them',
  }
}

function isWithoutSpace(directory: string, space: FileSystem['space']): boolean {
  if (!existsSync(directory)) return false
  const { blocks, bavail } = space(directory)
  // A file system without blocks, such as /proc, is not full.
  return blocks > 0 && bavail === 0
}
