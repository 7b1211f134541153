import { mkdir, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { RestoreError } from './restore-error.ts'
import { sizeText } from './words.ts'
import { isRunning } from '../../files/process-state.ts'

/** The directory of one restoration. */
export interface Workspace {
  /** Where the archive is downloaded to, under this directory. */
  readonly downloads: string
  /** Where its files are unpacked to. */
  readonly files: string
  /** Removes what is not to be kept. */
  close(): Promise<void>
}

const DRILL = /^restore-(\d+)$/

/** A directory that goes at the end, below the backups. What a killed drill has left there goes too. */
export async function temporaryWorkspace(backupsDirectory: string): Promise<Workspace> {
  await mkdir(backupsDirectory, { recursive: true, mode: 0o700 })
  await removeAbandoned(backupsDirectory)
  const directory = join(backupsDirectory, `restore-${process.pid}`)
  const [downloads, files] = [join(directory, 'download'), join(directory, 'files')]
  // One after the other: made at once, Node.js names a read-only disk ENOENT.
  for (const path of [directory, downloads, files]) await mkdir(path, { mode: 0o700 })
  return { downloads, files, close: () => rm(directory, { recursive: true, force: true }) }
}

async function removeAbandoned(backupsDirectory: string): Promise<void> {
  for (const name of await readdir(backupsDirectory)) {
    const processId = Number(DRILL.exec(name)?.[1])
    if (processId > 0 && (processId === process.pid || !isRunning(processId)))
      await rm(join(backupsDirectory, name), { recursive: true, force: true })
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
  throw new Error(
    `there is too little space in ${directory}: ${what} needs ${sizeText(bytes)}, and ${sizeText(free)} are free`,
  )
}
