import { readFileSync, renameSync } from 'node:fs'
import { writeFileAtomically } from './atomic-file.ts'
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
  /** Keeps an unreadable state file under another name, which it answers. */
  setAside(now: number): string
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
    setAside(now) {
      const aside = `${stateFile}.corrupt-${new Date(now).toISOString().replaceAll(/[-:.]/g, '')}`
      renameSync(stateFile, aside)
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
  return { ...store, setAside: () => '', save() {}, saveLedger() {}, close() {} }
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
