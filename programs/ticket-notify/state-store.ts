import { linkSync, readFileSync, statSync } from 'node:fs'
import { removeQuietly, writeFileAtomically } from './atomic-file.ts'
import { createLedger, type Ledger, parseLedger } from './ledger.ts'
import { Snapshot, type SnapshotOptions } from './snapshot.ts'
import { readLines, StateFile } from './state-file.ts'

/** Without what it remembers a round is a first one. */
export type OpenedState =
  | { readonly situation: 'known'; readonly snapshot: Snapshot }
  | { readonly situation: 'absent' }
  | { readonly situation: 'unreadable'; readonly reason: string }

/** What outlives a round. Everything is on disk when a call returns, and each file changes at once or not at all. */
export interface StateStore {
  open(options: SnapshotOptions): OpenedState
  /** Saves a new state in place of an unreadable one, which is kept under the returned name. */
  replaceUnreadable(snapshot: Snapshot, now: number): string
  save(snapshot: Snapshot): void
  openLedger(today: string): Ledger
  saveLedger(ledger: Ledger): void
  /** Removes temporary files; may be called twice. */
  close(): void
}

/** The files that belong to a state file. */
export const lockFileOf = (stateFile: string): string => `${stateFile}.lock`
export const memoryFileOf = (stateFile: string): string => `${stateFile}.memory`
const ledgerFileOf = (stateFile: string): string => `${stateFile}.digest`

/** Why there can be no state file at this path, undefined when there can. Directories and devices are never moved. */
export function statePathProblem(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory()) return 'it is a directory'
  return stats?.isBlockDevice() || stats?.isCharacterDevice() ? 'it is a device' : undefined
}

export function createStateStore(stateFile: string): StateStore {
  const ledgerFile = ledgerFileOf(stateFile)
  const file = new StateFile(stateFile)
  return {
    open(options) {
      try {
        return { situation: 'known', snapshot: Snapshot.parse(() => readLines(stateFile), options) }
      } catch (error) {
        return codeOf(error) === 'ENOENT'
          ? { situation: 'absent' }
          : { situation: 'unreadable', reason: reasonOf(error) }
      }
    },
    replaceUnreadable(snapshot, now) {
      const aside = `${stateFile}.corrupt-${new Date(now).toISOString().replaceAll(/[-:.]/g, '')}`
      // A second name for the file: when the new state cannot be written, nothing has moved.
      linkSync(stateFile, aside)
      try {
        file.save(snapshot)
      } catch (error) {
        removeQuietly(aside)
        throw error
      }
      return aside
    },
    save: (snapshot) => file.save(snapshot),
    openLedger: (today) => createLedger(today, readLedger(ledgerFile)),
    saveLedger(ledger) {
      writeFileAtomically(ledgerFile, `${JSON.stringify(ledger.data())}\n`)
      ledger.markSaved()
    },
    close: () => file.close(),
  }
}

/** For a dry run: reads, and leaves everything as it is. */
export function readOnlyStore(store: StateStore): StateStore {
  return { ...store, replaceUnreadable: () => '', save() {}, saveLedger() {}, close() {} }
}

/** A ledger that cannot be read names nothing; it is only an account of what the log has told already. */
function readLedger(path: string) {
  try {
    return parseLedger(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not valid JSON'
  return error instanceof Error ? error.message : String(error)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
