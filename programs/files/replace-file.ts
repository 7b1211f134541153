import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Who may use a file. */
export interface FileAccess {
  /** The permissions of the file, whatever the umask of the process is. */
  readonly mode: number
  /** By default the user and the group of the process. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined
}

export const READABLE_BY_ALL: FileAccess = { mode: 0o644 }
const OWNER_ONLY = 0o600
const PERMISSIONS = 0o777

/**
 * Creates or replaces a file as a whole: a reader sees the old content or the new one, also after a power failure.
 * Synchronous, so that no signal handler runs in between. A failure leaves the old file.
 */
export function replaceFile(path: string, text: string, access: FileAccess = { mode: OWNER_ONLY }): void {
  const temporary = temporaryOf(path)
  try {
    writeNewFile(temporary, text, access)
    renameSync(temporary, path)
  } catch (error) {
    removeQuietly(temporary)
    throw error
  }
  flushDirectory(dirname(path))
}

/** Where a file is written before it is renamed. A process that is killed may leave it behind. */
export const temporaryOf = (path: string): string => `${path}.tmp`

/** Throws unless a file of the same size can be written beside this one, as on a full or a read-only disk. */
export function requireReplaceable(path: string): void {
  const attempt = `${path}.${process.pid}.try`
  try {
    writeNewFile(attempt, ' '.repeat(statSync(path).size), { mode: OWNER_ONLY })
  } finally {
    removeQuietly(attempt)
  }
}

function writeNewFile(path: string, text: string, access: FileAccess): void {
  rmSync(path, { force: true })
  // Others get access only to the complete file.
  const file = openSync(path, 'wx', OWNER_ONLY)
  try {
    writeFileSync(file, text)
    allowAccess(file, access)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Changes only what differs: some file systems refuse any change. */
function allowAccess(file: number, { mode, owner }: FileAccess): void {
  const current = fstatSync(file)
  if (owner && (owner.uid !== current.uid || owner.gid !== current.gid))
    fchownSync(file, owner.uid, owner.gid)
  if ((current.mode & PERMISSIONS) !== mode) fchmodSync(file, mode)
}

/** Flushes a directory: until then a rename may be undone by a power failure. */
export function flushDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

/** Removes files while another error is being reported, which is not replaced by an error of the removal. */
export function removeQuietly(...paths: readonly string[]): void {
  for (const path of paths) {
    try {
      rmSync(path, { force: true })
    } catch {
      // The next attempt to write there reports the error.
    }
  }
}
