import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

const READABLE_BY_OTHERS = 0o077
// No program writes a larger file of tokens or keys.
const MAX_BYTES = 1_024 ** 2

/** The text of a file that only its owner can read. Throws an error that says what is wrong, without its content. */
export function readPrivateFile(path: string): string {
  const file = openSync(path, 'r')
  try {
    // Of the open file: the path may name another file a moment later.
    const stats = fstatSync(file)
    if (!stats.isFile()) throw new Error('it is not a regular file')
    if (stats.mode & READABLE_BY_OTHERS) throw new Error('group or others have access to it; chmod 600 it')
    if (stats.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/**
 * Replaces a private file as a whole, and keeps its owner, group and mode. A reader sees the old content or the new one,
 * also after a power failure.
 */
export function replacePrivateFile(path: string, text: string): void {
  const { uid, gid, mode } = statsOf(path)
  const temporary = `${path}.tmp`
  rmSync(temporary, { force: true })
  try {
    const file = openSync(temporary, 'wx', 0o600)
    try {
      writeFileSync(file, text)
      const own = fstatSync(file)
      if (own.uid !== uid || own.gid !== gid) fchownSync(file, uid, gid)
      fchmodSync(file, mode & 0o777)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  flushDirectory(dirname(path))
}

function statsOf(path: string) {
  const file = openSync(path, 'r')
  try {
    return fstatSync(file)
  } finally {
    closeSync(file)
  }
}

/** Until then a rename may be undone by a power failure. */
export function flushDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
