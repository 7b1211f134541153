import { closeSync, constants, fstatSync, openSync, readFileSync, statSync, type Stats } from 'node:fs'
import { replaceFile, type FileAccess } from './replace-file.ts'

const READABLE_BY_OTHERS = 0o077
const PERMISSIONS = 0o777
// No program writes a larger file of tokens or keys.
const MAX_BYTES = 1_024 ** 2

/**
 * The text of a file that only its owner can read. Throws an error that says what is wrong, without its content; so may
 * `check`.
 */
export function readPrivateFile(path: string, check: (stats: Stats) => void = () => undefined): string {
  // The flag keeps the call from waiting for the writer of a pipe.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    // Reads the open file's: the path may name another file a moment later.
    const stats = fstatSync(file)
    if (!stats.isFile()) throw new Error('it is not a regular file')
    if (stats.mode & READABLE_BY_OTHERS) throw new Error('group or others have access to it; chmod 600 it')
    if (stats.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
    check(stats)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** Replaces an existing file as a whole, and keeps its owner, group and mode. */
export function replacePrivateFile(path: string, text: string): void {
  replaceFile(path, text, accessOf(path))
}

function accessOf(path: string): FileAccess {
  const { uid, gid, mode } = statSync(path)
  return { mode: mode & PERMISSIONS, owner: { uid, gid } }
}
