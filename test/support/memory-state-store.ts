import { createLedger, parseLedger } from '../../programs/ticket-notify/ledger.ts'
import { Snapshot } from '../../programs/ticket-notify/snapshot.ts'
import type { StateStore } from '../../programs/ticket-notify/state-store.ts'

/** What is on the disk of a notifier: whole files, as atomic writing leaves them. */
export interface NotifierDisk {
  state: string | undefined
  ledger: string | undefined
  readonly aside: string[]
}

/** The process is gone: nothing that comes after it happens. */
export class Killed extends Error {}

/**
 * The notifier's files in memory. `beforeWrite` and `afterWrite` are the moments at which a kill leaves something
 * behind; they may throw.
 */
export function memoryStateStore(
  disk: NotifierDisk,
  { beforeWrite, afterWrite }: { beforeWrite(what: 'state' | 'ledger'): void; afterWrite(): void } = {
    beforeWrite() {},
    afterWrite() {},
  },
): StateStore {
  const writing = <T>(what: 'state' | 'ledger', write: () => T): T => {
    beforeWrite(what)
    const result = write()
    afterWrite()
    return result
  }
  return {
    open(options) {
      if (disk.state === undefined) return { situation: 'absent' }
      try {
        const lines = Buffer.from(disk.state).toString('latin1').split('\n')
        return { situation: 'known', snapshot: Snapshot.parse(() => lines, options) }
      } catch (error) {
        return { situation: 'unreadable', reason: String(error) }
      }
    },
    replaceUnreadable: (snapshot) => {
      writing('state', () => disk.aside.push(disk.state ?? ''))
      writing('state', () => (disk.state = contentOf(snapshot)))
      return 'aside'
    },
    save: (snapshot) => writing('state', () => void (disk.state = contentOf(snapshot))),
    openLedger: (today) =>
      createLedger(today, disk.ledger === undefined ? undefined : parseLedger(disk.ledger)),
    saveLedger: (ledger) =>
      writing('ledger', () => {
        disk.ledger = JSON.stringify(ledger.data())
        ledger.markSaved()
      }),
    close() {},
  }
}

function contentOf(snapshot: Snapshot): string {
  const latin1 = [...snapshot.beginning(), snapshot.ending()].join('')
  return Buffer.from(latin1, 'latin1').toString()
}
