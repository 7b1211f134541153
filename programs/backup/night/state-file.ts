import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { toRfc3339 } from '../../../src/kernel/time.ts'
import { replaceFile } from '../../files/replace-file.ts'
import { systemErrorCode } from '../../files/system-error.ts'
import { BackupError } from '../errors.ts'
import { EMPTY_STATE, encodeState, parseState, type BackupState } from './state.ts'

/** What a run leaves for the next one. */
export interface StateStore {
  /** The state, or an empty one when there is none that can be used. Throws a `BackupError` if it cannot be read. */
  read(): BackupState
  /** Replaces the state. It is durable when the call returns. */
  write(state: BackupState): void
}

export interface FileStateDeps {
  readonly clock: Clock
  /** Takes the sentence that the state is unusable, once. */
  readonly onUnusable: (message: string) => void
}

/**
 * A file that is replaced as a whole. In place of an unusable one the state begins anew, and the first change keeps it under
 * another name: a program that only reads moves no file.
 */
export class FileStateStore implements StateStore {
  readonly #path: string
  readonly #deps: FileStateDeps
  #isUnusable = false

  constructor(path: string, deps: FileStateDeps) {
    this.#path = path
    this.#deps = deps
  }

  read(): BackupState {
    const text = this.#text()
    if (text === undefined) return EMPTY_STATE
    try {
      return parseState(text)
    } catch (error) {
      this.#reportUnusable(errorMessage(error))
      return EMPTY_STATE
    }
  }

  write(state: BackupState): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
    if (this.#isUnusable) this.#setAside()
    replaceFile(this.#path, encodeState(state))
  }

  /** Undefined when there is no file. Another error of the system says nothing about the text, so the file stays. */
  #text(): string | undefined {
    try {
      return readFileSync(this.#path, 'utf8')
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return undefined
      const message = `The state ${this.#path} cannot be read: ${errorMessage(error)}. Make the file readable for this program, or check its disk.`
      throw new BackupError('internal', message, { cause: error })
    }
  }

  #reportUnusable(reason: string): void {
    if (this.#isUnusable) return
    this.#isUnusable = true
    this.#deps.onUnusable(
      `${this.#path} cannot be used: ${reason}. The next run is a first run, and keeps the file as ${this.#path}.corrupt-<time>.`,
    )
  }

  #setAside(): void {
    const time = toRfc3339(this.#deps.clock.now()).replaceAll(/[-:.]/g, '')
    renameSync(this.#path, `${this.#path}.corrupt-${time}`)
    this.#isUnusable = false
  }
}

/** Keeps the changes of a dry run in memory. */
export class MemoryStateStore implements StateStore {
  #state: BackupState

  constructor(state: BackupState) {
    this.#state = state
  }

  read(): BackupState {
    return this.#state
  }

  write(state: BackupState): void {
    this.#state = state
  }
}
