import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, renameSync } from 'node:fs'
import { writeFileAtomically } from './atomic-file.ts'
import { createLedger, type Ledger, parseLedger } from './ledger.ts'
import { createRewrittenFile } from './rewritten-file.ts'
import {
  type ByteSource,
  type ParsedSnapshot,
  type ParseOptions,
  parseSnapshot,
  type Snapshot,
} from './snapshot.ts'

/** Without what it remembers a round is a first one. */
export type OpenedState =
  | ({ readonly situation: 'known' } & ParsedSnapshot)
  | { readonly situation: 'absent' }
  | { readonly situation: 'unreadable'; readonly reason: string }

/** What outlives a round. Everything is on disk when a call returns, and each file changes at once or not at all. */
export interface StateStore {
  open(options: ParseOptions): OpenedState
  /** Keeps an unreadable state file under another name, which it answers. */
  setAside(now: number): string
  save(snapshot: Snapshot): void
  openLedger(today: string): Ledger
  saveLedger(ledger: Ledger): void
  /** Ends what an opened snapshot is read from; may be called twice. */
  close(): void
}

/** The files that belong to a state file. */
export const lockFileOf = (stateFile: string): string => `${stateFile}.lock`
export const memoryFileOf = (stateFile: string): string => `${stateFile}.memory`
const ledgerFileOf = (stateFile: string): string => `${stateFile}.digest`

export function createStateStore(stateFile: string): StateStore {
  const ledgerFile = ledgerFileOf(stateFile)
  const rewritten = createRewrittenFile(stateFile)
  let file: OpenFile | undefined
  return {
    open(options) {
      try {
        file = openFile(stateFile)
        return { situation: 'known', ...parseSnapshot(file.source, options) }
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
    save: rewritten.write,
    openLedger: (today) => createLedger(today, readLedger(ledgerFile)),
    saveLedger(ledger) {
      writeFileAtomically(ledgerFile, Buffer.from(`${JSON.stringify(ledger.data())}\n`))
      ledger.markSaved()
    },
    close() {
      rewritten.close()
      file?.close()
      file = undefined
    },
  }
}

interface OpenFile {
  readonly source: ByteSource
  close(): void
}

/** The file as it is now; what is renamed over it later does not change what is read. */
function openFile(path: string): OpenFile {
  // A pipe, of which nobody would ever write the other end, must not be waited for.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const length = sizeOf(descriptor)
  let buffer = Buffer.alloc(0)
  const read = (start: number, end: number): Buffer => {
    if (buffer.length < end - start) buffer = Buffer.allocUnsafeSlow(end - start)
    for (let at = start; at < end;) {
      const count = readSync(descriptor, buffer, at - start, end - at, at)
      if (count === 0) throw new Error('it became shorter while it was read')
      at += count
    }
    return buffer.subarray(0, end - start)
  }
  return { source: { length, read }, close: () => closeSync(descriptor) }
}

function sizeOf(descriptor: number): number {
  const stat = fstatSync(descriptor)
  if (stat.isFile()) return stat.size
  closeSync(descriptor)
  throw new Error(stat.isDirectory() ? 'it is a directory' : 'it is no regular file')
}

/** For a dry run: reads, and leaves everything as it is. */
export function readOnlyStore(store: StateStore): StateStore {
  return { ...store, setAside: () => '', save() {}, saveLedger() {} }
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
