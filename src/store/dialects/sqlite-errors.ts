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
import { storeUnavailable, WriteLockHeld } from '../unavailable.ts'
import { errorMessage, errorCode } from '../../kernel/errors.ts'
import { shellWord } from '../../kernel/text.ts'

// https://www.sqlite.org/rescode.html, primary codes
const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
const SQLITE_FULL = 13
// I/O error, corrupt, full, cannot open, not a database.
const STORE_FAILURES = new Set([10, 11, 13, 14, 26])
// Corrupt, not a database.
const DAMAGED = new Set([11, 26])

/** Another connection holds the lock that this one needs. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === SQLITE_BUSY || code === SQLITE_LOCKED
}

/** The error of a query as callers get it: `store_unavailable` for a failure of the disk, else as it is. */
export function fromSqliteError(error: unknown): unknown {
  const code = primaryCode(error)
  return code !== undefined && STORE_FAILURES.has(code) ? storeUnavailable(error) : error
}

/** The file has other contents than SQLite has written. */
export function isDamaged(error: unknown): boolean {
  const code = primaryCode(error)
  return code !== undefined && DAMAGED.has(code)
}

/** There was no room for the change, even if there is some now. */
function isFull(error: unknown): boolean {
  return primaryCode(error) === SQLITE_FULL
}

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined
  return error.errcode & 0xff
}

/** Why a database file cannot be used, and what to do; both without a full stop. */
interface SqliteFailure {
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
    return errorCode(error) ?? errorMessage(error)
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
