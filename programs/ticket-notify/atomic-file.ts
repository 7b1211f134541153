import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

const OWNER_ONLY = 0o600

/**
 * Replaces a file by these bytes: whoever reads it, or finds it after a power loss, sees all of the old ones or all
 * of the new. Synchronous, so that a signal cannot come in between.
 */
export function writeFileAtomically(path: string, bytes: Uint8Array): void {
  const temporary = temporaryOf(path)
  try {
    writeNewFile(temporary, [bytes])
    renameSync(temporary, path)
  } catch (error) {
    removeQuietly(temporary)
    throw error
  }
  syncDirectoryOf(path)
}

/** Where a file is written before it is renamed; what lies there was left behind by a round that was killed. */
export const temporaryOf = (path: string): string => `${path}.tmp`

/** Makes the directory of a file, for its owner alone, where there is none. */
export function makeDirectoryOf(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
}

/** Writes a file in place of any other, flushed to disk, and answers its length. */
export function writeNewFile(path: string, pieces: Iterable<Uint8Array>): number {
  rmSync(path, { force: true })
  const file = openSync(path, 'wx', OWNER_ONLY)
  try {
    let length = 0
    for (const piece of pieces) length += writeFully(file, piece)
    fsyncSync(file)
    return length
  } finally {
    closeSync(file)
  }
}

/** Writes all bytes, at a position or behind those that were written before, and answers how many they were. */
export function writeFully(file: number, bytes: Uint8Array, position?: number): number {
  for (let written = 0; written < bytes.length;) {
    const at = position === undefined ? null : position + written
    written += writeSync(file, bytes, written, bytes.length - written, at)
  }
  return bytes.length
}

/** A new name is on disk only when its directory is. */
export function syncDirectoryOf(path: string): void {
  const directory = openSync(dirname(path), 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

export function removeQuietly(...paths: readonly string[]): void {
  for (const path of paths) {
    try {
      rmSync(path, { force: true })
    } catch {
      // What could not be written is told by the error that is under way.
    }
  }
}
