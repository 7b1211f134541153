import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { resolve } from 'node:path'
import { errorMessage, invalidField } from '../../kernel/errors.ts'
import { Secret } from '../../kernel/secret.ts'

const READABLE_BY_OTHERS = 0o044

// docs/specification.md, Gateway: a token is at most 8 KiB
const MAX_BYTES = 16 * 1_024

export interface TokenFile {
  /** The current token of the file; throws, without printing it, when there is none. */
  read(): Secret
  /** What the owner of the file should change, if anything. */
  readonly warning: string | undefined
}

/** Opens a file that contains only a token. Throws `invalid` when it has none. */
export function openTokenFile(name: string, cwd: string): TokenFile {
  const path = resolve(cwd, name)
  const read = () => withFile(path, (file) => tokenIn(name, file))
  try {
    read()
    return { read, warning: withFile(path, (file) => exposure(name, fstatSync(file))) }
  } catch (error) {
    throw invalidField('--token-file', errorMessage(error))
  }
}

function withFile<T>(path: string, use: (file: number) => T): T {
  // Opening a pipe without a writer must not block the program.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return use(file)
  } finally {
    closeSync(file)
  }
}

function tokenIn(name: string, file: number): Secret {
  const stats = fstatSync(file)
  // Pipes and devices can be read only once, or endlessly.
  if (!stats.isFile()) throw new Error(`${JSON.stringify(name)} is no regular file`)
  if (stats.size > MAX_BYTES) throw new Error(`${JSON.stringify(name)} is too large for a token`)
  const token = readFileSync(file, 'utf8').trim()
  if (token === '') throw new Error(`${JSON.stringify(name)} is empty; write a token into it`)
  return new Secret(token)
}

function exposure(name: string, { mode }: Stats): string | undefined {
  if ((mode & READABLE_BY_OTHERS) === 0) return undefined
  return `${JSON.stringify(name)} can be read by others than its owner; chmod 600 it`
}
