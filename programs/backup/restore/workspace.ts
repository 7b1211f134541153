import { mkdir, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { lockOwner, takeProcessLock, type ReleaseLock } from '../../files/process-lock.ts'
import { BackupError } from '../errors.ts'
import { RestoreError } from './restore-error.ts'
import { sizeText } from './words.ts'

/** The directory of one restoration. */
export interface Workspace {
  /** Where the archive is downloaded to, under this directory. */
  readonly downloads: string
  /** Where its files are unpacked to. */
  readonly files: string
  /** Removes what is not to be kept. */
  close(): Promise<void>
}

const DRILL = /^(restore-\d+)(?:\.lock)?$/

/** A directory that goes at the end, below the backups. What a killed drill has left there goes too. */
export async function temporaryWorkspace(backupsDirectory: string): Promise<Workspace> {
  await mkdir(backupsDirectory, { recursive: true, mode: 0o700 })
  await removeAbandoned(backupsDirectory)
  const directory = join(backupsDirectory, `restore-${process.pid}`)
  const release = takeLock(directory)
  const close = async () => {
    await rm(directory, { recursive: true, force: true })
    release()
  }
  const [downloads, files] = [join(directory, 'download'), join(directory, 'files')]
  try {
    // One directory after the other: Node.js reports a read-only disk as ENOENT when they are made at the same time.
    for (const path of [directory, downloads, files]) await mkdir(path, { mode: 0o700 })
  } catch (error) {
    await close()
    throw error
  }
  return { downloads, files, close }
}

/** Beside the directory and before it, so that no other drill sees the directory without its lock. */
const lockOf = (directory: string): string => `${directory}.lock`

function takeLock(directory: string): ReleaseLock {
  const lock = takeProcessLock(lockOf(directory))
  if (typeof lock === 'function') return lock
  throw new RestoreError(`${directory} is in use by the process ${lock.heldBy}.`)
}

/** The number in the name does not say whether the drill runs: after a reboot another process may have it. */
async function removeAbandoned(backupsDirectory: string): Promise<void> {
  for (const name of await readdir(backupsDirectory)) {
    const drill = DRILL.exec(name)?.[1]
    if (drill === undefined) continue
    const directory = join(backupsDirectory, drill)
    if (lockOwner(lockOf(directory)) !== undefined) continue
    for (const path of [directory, lockOf(directory)]) await rm(path, { recursive: true, force: true })
  }
}

/** The directory that the caller has named; its files stay. Throws a {@link RestoreError} unless it is empty or new. */
export async function namedWorkspace(directory: string): Promise<Workspace> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch(() => undefined)
  const entries = await readdir(directory).catch((error: Error) => {
    throw new RestoreError(`${directory} cannot be used: ${error.message}`)
  })
  if (entries.length > 0)
    throw new RestoreError(`The directory ${directory} is not empty; name an empty or a new one.`)
  return { downloads: directory, files: directory, close: () => Promise.resolve() }
}

/** Throws an error when the file system of the directory has too little space. */
export async function requireSpaceFor(directory: string, bytes: number, what: string): Promise<void> {
  const { bavail, bsize } = await statfs(directory)
  const free = bavail * bsize
  if (free >= bytes) return
  throw new BackupError(
    'no_space',
    `there is too little space in ${directory}: ${what} needs ${sizeText(bytes)}, and ${sizeText(free)} are free`,
  )
}
