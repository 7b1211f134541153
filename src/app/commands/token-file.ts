import { readFileSync, type Stats } from 'node:fs'
import { resolve } from 'node:path'
import { withFile } from '../../config/private-file.ts'
import { errorMessage, invalidField } from '../../kernel/errors.ts'
import { Secret } from '../../kernel/secret.ts'

const READABLE_BY_OTHERS = 0o044

// docs/specification.md, Gateway: a token is at most 8 KiB
const MAX_BYTES = 16 * 1_024

export interface TokenFile {
  /** Reads the current token; throws an error without the file's content when there is none. */
  read(): Secret
  /** A problem with the file's permissions that its owner should fix. */
  readonly warning: string | undefined
}

/** Opens a file that contains only a token. Throws `invalid` when it has none. */
export function openTokenFile(name: string, cwd: string): TokenFile {
  const path = resolve(cwd, name)
  const read = () => withFile(path, (file, stats) => tokenIn(name, file, stats))
  try {
    read()
    return { read, warning: withFile(path, (_file, stats) => exposure(name, stats)) }
  } catch (error) {
    throw invalidField('--token-file', 'invalid', { reason: errorMessage(error) })
  }
}

function tokenIn(name: string, file: number, stats: Stats): Secret {
  // The token is read again at each connection: a pipe can be read only once, a device may never end.
  if (!stats.isFile()) throw new Error(`${JSON.stringify(name)} is not a regular file`)
  if (stats.size > MAX_BYTES) throw new Error(`${JSON.stringify(name)} is larger than ${MAX_BYTES} bytes`)
  const token = readFileSync(file, 'utf8').trim()
  if (token === '') throw new Error(`${JSON.stringify(name)} is empty; write a token into it`)
  return new Secret(token)
}

function exposure(name: string, { mode }: Stats): string | undefined {
  if ((mode & READABLE_BY_OTHERS) === 0) return undefined
  return `${JSON.stringify(name)} can be read by other users; run chmod 600 on it`
}
