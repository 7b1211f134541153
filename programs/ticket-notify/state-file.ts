import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { flushDirectory, removeQuietly, temporaryOf } from '../files/replace-file.ts'
import { replaceEnd, writeNewFile } from './file-writes.ts'
import type { Snapshot } from './snapshot.ts'

// Larger chunks need more memory: their lines live longer.
const CHUNK_BYTES = 4_096

/** The lines of a file as latin1, read piece by piece; the last one has no line feed. */
export function* readLines(path: string): Iterable<string> {
  // Opening a named pipe would otherwise wait for a process that writes to it.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!fstatSync(file).isFile()) throw new Error('it is not a regular file')
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    let rest = ''
    for (let length = 0; (length = readSync(file, chunk)) > 0;) {
      const text = chunk.toString('latin1', 0, length)
      const lines = text.includes('\n') ? (rest + text).split('\n') : [rest + text]
      rest = lines.pop() ?? ''
      yield* lines
    }
    yield rest
  } finally {
    closeSync(file)
  }
}

/**
 * The file of one snapshot, replaced as a whole by each save. The state of 100,000 tickets is 20 MB and is saved after
 * each notification, so the replaced file becomes the next temporary file: it begins with the same bytes.
 */
export class StateFile {
  readonly #path: string
  readonly #temporary: string
  readonly #previous: string
  /** Undefined before the first save. */
  #beginningBytes: number | undefined

  constructor(path: string) {
    this.#path = path
    this.#temporary = temporaryOf(path)
    this.#previous = `${path}.previous`
  }

  save(snapshot: Snapshot): void {
    try {
      const beginningBytes = this.#prepare(snapshot)
      replaceEnd(this.#temporary, beginningBytes, Buffer.from(snapshot.ending(), 'latin1'))
      if (this.#beginningBytes === undefined) renameSync(this.#temporary, this.#path)
      else this.#swap()
      this.#beginningBytes = beginningBytes
    } catch (error) {
      this.close()
      throw error
    }
    flushDirectory(dirname(this.#path))
  }

  /** Removes the temporary files; may be called twice. */
  close(): void {
    removeQuietly(this.#temporary, this.#previous)
  }

  /** Makes sure that the temporary file has the snapshot's beginning, and returns its length. */
  #prepare(snapshot: Snapshot): number {
    if (this.#beginningBytes === undefined)
      return writeNewFile(this.#temporary, snapshot.beginning(), 'latin1')
    if (!existsSync(this.#temporary)) copyFileSync(this.#path, this.#temporary)
    return this.#beginningBytes
  }

  #swap(): void {
    rmSync(this.#previous, { force: true })
    linkSync(this.#path, this.#previous)
    renameSync(this.#temporary, this.#path)
    renameSync(this.#previous, this.#temporary)
  }
}
