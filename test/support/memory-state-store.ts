import { DigestRecord } from '../../programs/ticket-notify/digest-record.ts'
import { Snapshot, type SnapshotOptions } from '../../programs/ticket-notify/snapshot.ts'
import type { OpenedState, StateStore } from '../../programs/ticket-notify/state-store.ts'

/** The files of a notifier, each complete. */
export interface NotifierDisk {
  state: string | undefined
  digestRecord: string | undefined
  /** Unreadable states that were kept. */
  readonly kept: string[]
}

/** The process ends here. */
export class Killed extends Error {}

export interface WriteHooks {
  /** Both may throw: these are the moments at which a kill leaves different files. */
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

  close(): void {}

  #write(file: keyof NotifierDisk, write: () => void): void {
    this.#hooks.beforeWrite?.(file)
    write()
    this.#hooks.afterWrite?.()
  }
}
