import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

const OWNER_ONLY = 0o600

/**
 * Replaces a file by these bytes: whoever reads it, or finds it after a power loss, sees all of the old ones or all
 * of the new. Synchronous, so that a signal cannot come in between.
 */
export function writeFileAtomically(path: string, pieces: Iterable<Uint8Array>): void {
  const temporary = `${path}.tmp`
  try {
    // Left behind by a round that was killed.
    rmSync(temporary, { force: true })
    writeNew(temporary, pieces)
    renameSync(temporary, path)
  } catch (error) {
    removeQuietly(temporary)
    throw error
  }
  syncDirectory(dirname(path))
}

/** Makes the directory of a file, for its owner alone, where there is none. */
export function makeDirectoryOf(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
}

function writeNew(path: string, pieces: Iterable<Uint8Array>): void {
  const file = openSync(path, 'wx', OWNER_ONLY)
  try {
    for (const piece of pieces) writeFully(file, piece)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function writeFully(file: number, piece: Uint8Array): void {
  for (let written = 0; written < piece.length;) written += writeSync(file, piece, written)
}

/** The new name is on disk only when its directory is. */
function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // What could not be written is told by the error that is under way.
  }
}
