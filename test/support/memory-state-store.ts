import { DigestRecord } from '../../programs/ticket-notify/digest-record.ts'
import { Snapshot, type SnapshotOptions } from '../../programs/ticket-notify/snapshot.ts'
import type { OpenedState, StateStore } from '../../programs/ticket-notify/state-store.ts'

/** The contents of a notifier's files. */
export interface NotifierDisk {
  state: string | undefined
  digestRecord: string | undefined
  /** Whether the alert of an unreadable state file is open. */
  openAlert?: boolean
  /** Copies of unreadable state files. */
  readonly kept: string[]
}

/** Thrown by a hook to simulate a killed process. */
export class Killed extends Error {}

export interface WriteHooks {
  /** Both may throw {@link Killed}: a kill before and a kill after the write leave different files. */
  beforeWrite?(file: keyof NotifierDisk): void
  afterWrite?(): void
}

/** The notifier's files in memory. */
export class MemoryStateStore implements StateStore {
  readonly #disk: NotifierDisk
  readonly #hooks: WriteHooks

  constructor(disk: NotifierDisk, hooks: WriteHooks = {}) {
    this.#disk = disk
    this.#hooks = hooks
  }

  open(options: SnapshotOptions): OpenedState {
    const { state } = this.#disk
    if (state === undefined) return { situation: 'absent' }
    try {
      const lines = Buffer.from(state).toString('latin1').split('\n')
      return { situation: 'known', snapshot: Snapshot.parse(() => lines, options) }
    } catch (error) {
      return { situation: 'unreadable', reason: String(error) }
    }
  }

  save(snapshot: Snapshot): void {
    const latin1 = [...snapshot.beginning(), snapshot.ending()].join('')
    this.#write('state', () => (this.#disk.state = Buffer.from(latin1, 'latin1').toString()))
  }

  replaceUnreadable(snapshot: Snapshot): string {
    this.#write('kept', () => this.#disk.kept.push(this.#disk.state ?? ''))
    this.save(snapshot)
    return 'kept'
  }

  openDigestRecord(today: string): DigestRecord {
    return new DigestRecord(today, this.#disk.digestRecord)
  }

  saveDigestRecord(record: DigestRecord): void {
    this.#write('digestRecord', () => (this.#disk.digestRecord = record.toText()))
    record.markSaved()
  }

  hasOpenAlert(): boolean {
    return this.#disk.openAlert === true
  }

  setOpenAlert(isOpen: boolean): void {
    this.#write('openAlert', () => (this.#disk.openAlert = isOpen))
  }

  close(): void {}

  #write(file: keyof NotifierDisk, write: () => void): void {
    this.#hooks.beforeWrite?.(file)
    write()
    this.#hooks.afterWrite?.()
  }
}
