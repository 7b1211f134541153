import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from './errors.ts'

const OWNER_ONLY = 0o600
const BLOCK_CHARACTERS = 64 * 1_024

/**
 * Replaces a file as a whole: a reader sees the old content or the new one, also after a power failure. Synchronous, so
 * that no signal handler runs in between.
 */
export function writeFileAtomically(path: string, text: string): void {
  const temporary = temporaryOf(path)
  try {
    writeNewFile(temporary, [text], 'utf8')
    renameSync(temporary, path)
  } catch (error) {
    removeQuietly(temporary)
    throw error
  }
  syncDirectoryOf(path)
}

/** Where a file is written before it is renamed. A round that was killed may leave it behind. */
export const temporaryOf = (path: string): string => `${path}.tmp`

/** Creates the directory of a file, for its owner only, with its parents where they are missing. */
export function makeDirectoryOf(path: string): void {
  const directory = dirname(path)
  if (existsSync(directory)) return
  if (dirname(directory) !== directory) makeDirectoryOf(directory)
  // Without `recursive`, which never returns where the file system refuses new directories with ENOENT, as /proc does.
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    // Another round has created it at the same moment.
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** Writes and flushes a new file, in place of an old one of that name, and returns its length in bytes. */
export function writeNewFile(path: string, pieces: Iterable<string>, encoding: BufferEncoding): number {
  rmSync(path, { force: true })
  const file = openSync(path, 'wx', OWNER_ONLY)
  try {
    let length = 0
    let text = ''
    for (const piece of pieces) {
      text += piece
      if (text.length < BLOCK_CHARACTERS) continue
      length += writeFully(file, Buffer.from(text, encoding), length)
      text = ''
    }
    length += writeFully(file, Buffer.from(text, encoding), length)
    fsyncSync(file)
    return length
  } finally {
    closeSync(file)
  }
}

/** Writes all bytes at a position, and returns their number. */
function writeFully(file: number, bytes: Uint8Array, position: number): number {
  for (let written = 0; written < bytes.length;)
    written += writeSync(file, bytes, written, bytes.length - written, position + written)
  return bytes.length
}

/** Replaces the end of a file from a position on, and flushes it. */
export function replaceEnd(path: string, position: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+')
  try {
    ftruncateSync(file, position)
    writeFully(file, bytes, position)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Flushes the directory of a file: until then a rename may be undone by a power failure. */
export function syncDirectoryOf(path: string): void {
  const directory = openSync(dirname(path), 'r')
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
      // Reported by the next attempt to write there.
    }
  }
}
