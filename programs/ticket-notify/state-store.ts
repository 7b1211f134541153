import { existsSync, linkSync, readFileSync, statSync } from 'node:fs'
import { removeQuietly, replaceFile } from '../files/replace-file.ts'
import { systemErrorCode } from '../files/system-error.ts'
import { DigestRecord } from './digest-record.ts'
import { messageOf } from './errors.ts'
import { Snapshot, type SnapshotOptions } from './snapshot.ts'
import { readLines, StateFile } from './state-file.ts'

/** A round whose state is absent or unreadable is a first round. */
export type OpenedState =
  | { readonly situation: 'known'; readonly snapshot: Snapshot }
  | { readonly situation: 'absent' }
  | { readonly situation: 'unreadable'; readonly reason: string }

/** The files that a round leaves for the next one. Each is replaced as a whole and is on disk when a call returns. */
export interface StateStore {
  open(options: SnapshotOptions): OpenedState
  save(snapshot: Snapshot): void
  /** Saves a new state in place of an unreadable one. Returns the name under which the unreadable file is kept. */
  replaceUnreadable(snapshot: Snapshot, now: number): string
  openDigestRecord(today: string): DigestRecord
  saveDigestRecord(record: DigestRecord): void
  /** Whether the alert of an unreadable state file was reported and not closed yet. */
  hasOpenAlert(): boolean
  /** Remembers whether that alert is open. */
  setOpenAlert(isOpen: boolean): void
  /** Removes temporary files; may be called twice. */
  close(): void
}

/** The files beside a state file. */
export const lockFileOf = (stateFile: string): string => `${stateFile}.lock`
export const memoryFileOf = (stateFile: string): string => `${stateFile}.memory`
const digestFileOf = (stateFile: string): string => `${stateFile}.digest`
const alertFileOf = (stateFile: string): string => `${stateFile}.alert`

/** Why a path cannot be a state file, undefined when it can. A directory or a device must never be replaced. */
export function statePathProblem(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory()) return 'it is a directory'
  return stats?.isBlockDevice() || stats?.isCharacterDevice() ? 'it is a device' : undefined
}

/** Reads the files and changes none: the store of a dry run. */
export class ReadOnlyStateStore implements StateStore {
  protected readonly path: string

  constructor(stateFile: string) {
    this.path = stateFile
  }

  open(options: SnapshotOptions): OpenedState {
    try {
      return { situation: 'known', snapshot: Snapshot.parse(() => readLines(this.path), options) }
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return { situation: 'absent' }
      const reason = error instanceof SyntaxError ? 'it is not valid JSON' : messageOf(error)
      return { situation: 'unreadable', reason }
    }
  }

  /** A record that cannot be read is empty: the log has named everything in it. */
  openDigestRecord(today: string): DigestRecord {
    try {
      return new DigestRecord(today, readFileSync(digestFileOf(this.path), 'utf8'))
    } catch {
      return new DigestRecord(today)
    }
  }

  save(_snapshot: Snapshot): void {}

  saveDigestRecord(_record: DigestRecord): void {}

  hasOpenAlert(): boolean {
    return existsSync(alertFileOf(this.path))
  }

  setOpenAlert(_isOpen: boolean): void {}

  replaceUnreadable(_snapshot: Snapshot, _now: number): string {
    return 'dry run: it stays where it is'
  }

  close(): void {}
}

export class FileStateStore extends ReadOnlyStateStore {
  readonly #file: StateFile

  constructor(stateFile: string) {
    super(stateFile)
    this.#file = new StateFile(stateFile)
  }

  override save(snapshot: Snapshot): void {
    this.#file.save(snapshot)
  }

  override saveDigestRecord(record: DigestRecord): void {
    replaceFile(digestFileOf(this.path), record.toText())
    record.markSaved()
  }

  override setOpenAlert(isOpen: boolean): void {
    const file = alertFileOf(this.path)
    if (isOpen) replaceFile(file, '')
    else removeQuietly(file)
  }

  override replaceUnreadable(snapshot: Snapshot, now: number): string {
    const name = `${this.path}.corrupt-${new Date(now).toISOString().replaceAll(/[-:.]/g, '')}`
    // A second name for the same file: when the new state cannot be written, nothing has moved.
    linkSync(this.path, name)
    try {
      this.save(snapshot)
    } catch (error) {
      removeQuietly(name)
      throw error
    }
    return name
  }

  override close(): void {
    this.#file.close()
  }
}
