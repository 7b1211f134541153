import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { systemErrorCode } from '../files/system-error.ts'

const OWNER_ONLY = 0o600
const BLOCK_CHARACTERS = 64 * 1_024

/** Creates the directory of a file, for its owner only, with its parents where they are missing. */
export function makeDirectoryOf(path: string): void {
  const directory = dirname(path)
  if (existsSync(directory)) return
  if (dirname(directory) !== directory) makeDirectoryOf(directory)
  // `recursive` is not used: it never returns where the file system refuses new directories with ENOENT, as /proc does.
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    // Another round has created it at the same moment.
    if (systemErrorCode(error) !== 'EEXIST') throw error
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
