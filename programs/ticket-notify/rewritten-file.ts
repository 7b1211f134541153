import { closeSync, fsyncSync, ftruncateSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { removeQuietly, syncDirectoryOf, temporaryOf, writeFully, writeNewFile } from './atomic-file.ts'

/** The content of a file, of which the beginning is the same bytes each time that this object is asked. */
export interface Content {
  beginning(): Iterable<Uint8Array>
  ending(): Uint8Array
}

/** A file that is replaced again and again, each time as a whole or not at all (writeFileAtomically). */
export interface RewrittenFile {
  write(content: Content): void
  /** Removes what made the writing fast; may be called twice. */
  close(): void
}

/**
 * The state of 100,000 tickets is 20 MB, and is saved after each notification. So that not all of it is written each
 * time, the file before the present one is not deleted but kept as the next one to be written: its beginning is right
 * already, and only its end is replaced.
 */
export function createRewrittenFile(path: string): RewrittenFile {
  const temporary = temporaryOf(path)
  const previous = `${path}.previous`
  // What the file at `path` holds, and whether `temporary` begins with the same.
  let present: { readonly content: Content; readonly beginningLength: number } | undefined
  let isPrepared = false

  function prepare(content: Content): number {
    if (isPrepared && present?.content === content) {
      replaceEnd(temporary, present.beginningLength, content.ending())
      return present.beginningLength
    }
    rmSync(previous, { force: true })
    const ending = content.ending()
    return writeNewFile(temporary, piecesOf(content.beginning(), ending)) - ending.length
  }

  function put(content: Content): void {
    const keepsPrevious = present?.content === content
    if (keepsPrevious) linkSync(path, previous)
    renameSync(temporary, path)
    if (keepsPrevious) renameSync(previous, temporary)
    isPrepared = keepsPrevious
  }

  function forget(): void {
    isPrepared = false
    removeQuietly(temporary, previous)
  }

  return {
    write(content) {
      try {
        const beginningLength = prepare(content)
        put(content)
        present = { content, beginningLength }
      } catch (error) {
        forget()
        throw error
      }
      syncDirectoryOf(path)
    },
    close() {
      if (isPrepared) forget()
    },
  }
}

function* piecesOf(beginning: Iterable<Uint8Array>, ending: Uint8Array): Iterable<Uint8Array> {
  yield* beginning
  yield ending
}

function replaceEnd(path: string, from: number, ending: Uint8Array): void {
  const file = openSync(path, 'r+')
  try {
    ftruncateSync(file, from)
    writeFully(file, ending, from)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
