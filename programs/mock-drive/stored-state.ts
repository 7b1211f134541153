import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry } from './entries.ts'
import type { StoredTokens } from './tokens.ts'
import type { Upload } from './uploads.ts'
import { ValueError } from '../mock-server/value-error.ts'
import { systemErrorCode } from '../files/system-error.ts'

/** Everything but the contents of files. */
export interface StoredState {
  readonly urlKey: string
  readonly tokens: StoredTokens
  readonly entries: readonly Entry[]
  readonly uploads: readonly Upload[]
}

const FILE = 'state.json'

/** Undefined in a new directory. Throws a {@link ValueError} for a file that another program has changed. */
export function readStoredState(directory: string): StoredState | undefined {
  const path = join(directory, FILE)
  try {
    return requireState(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw new ValueError(`MOCK_DRIVE_DIR: expected ${path} to be a state that mock-drive has written`, {
      cause: error,
    })
  }
}

function requireState(value: unknown): StoredState {
  const { entries, uploads, tokens, urlKey }: Partial<StoredState> = Object(value)
  const isGood = Array.isArray(entries) && Array.isArray(uploads) && typeof urlKey === 'string'
  if (!isGood || !Array.isArray(tokens?.access) || !Array.isArray(tokens.refresh))
    throw new TypeError('other members')
  return { entries, uploads, tokens, urlKey }
}

export function writeStoredState(directory: string, state: StoredState): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, FILE)
  writeFileSync(`${path}.tmp`, JSON.stringify(state), { mode: 0o600 })
  renameSync(`${path}.tmp`, path)
}
