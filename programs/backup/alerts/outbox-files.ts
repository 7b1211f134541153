import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { toRfc3339 } from '../../../src/kernel/time.ts'
import { takeProcessLock } from '../../files/process-lock.ts'
import { flushDirectory } from '../../files/replace-file.ts'
import { replacePrivateFile } from '../../files/private-file.ts'

export const OUTBOX_FILE = 'outbox.jsonl'
/** Entries that the platform has refused, and lines that are no entries. */
export const REFUSED_FILE = 'outbox.refused.jsonl'
export type OutboxFileName = typeof OUTBOX_FILE | typeof REFUSED_FILE

/** A lock is held during a change of the files, or during the delivery of entries. */
export type OutboxLockName = 'change' | 'delivery'

/** Thrown for an outbox file that is not one of this program, such as a directory. */
export class UnusableFileError extends Error {
  override readonly name = 'UnusableFileError'
}

/** The files of an outbox. Every method may throw an error of the system. */
export interface OutboxFiles {
  /** The path of a file, for messages. */
  path(name: OutboxFileName): string
  /** The text of a file; empty when there is none. Throws an {@link UnusableFileError}, too. */
  read(name: OutboxFileName): string
  /** Replaces a file as a whole. It is durable afterwards; a crash leaves the old text or the new one. */
  replace(name: OutboxFileName, text: string): void
  /** Moves an unusable file out of the way; returns its new path, which has the time. */
  moveAside(name: OutboxFileName, now: number): string
  /** Undefined while another process has the lock. The lock of an ended process is free. */
  lock(name: OutboxLockName): Disposable | undefined
}

// This program never writes an outbox that is larger.
const MAX_BYTES = 16 * 1_024 ** 2

/** Files in one directory, which is created when it is missing. Only root can read them. */
export class DirectoryOutboxFiles implements OutboxFiles {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  path(name: OutboxFileName): string {
    return join(this.#directory, name)
  }

  read(name: OutboxFileName): string {
    const path = this.path(name)
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats) return ''
    if (!stats.isFile()) throw new UnusableFileError(`${path} is not a regular file`)
    if (stats.size > MAX_BYTES) throw new UnusableFileError(`${path} is larger than ${MAX_BYTES} bytes`)
    return readFileSync(path, 'utf8')
  }

  replace(name: OutboxFileName, text: string): void {
    const path = this.path(name)
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    if (!existsSync(path)) createEmpty(path)
    replacePrivateFile(path, text)
  }

  moveAside(name: OutboxFileName, now: number): string {
    const aside = `${this.path(name)}.unreadable-${toRfc3339(now).replaceAll(/[-:.]/g, '')}`
    renameSync(this.path(name), aside)
    flushDirectory(this.#directory)
    return aside
  }

  lock(name: OutboxLockName): Disposable | undefined {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    const lock = takeProcessLock(join(this.#directory, `outbox.${name}.lock`))
    return typeof lock === 'function' ? { [Symbol.dispose]: lock } : undefined
  }
}

function createEmpty(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
}
