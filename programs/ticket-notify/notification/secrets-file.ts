import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { systemErrorCode } from '../../files/system-error.ts'

export const KEYS = [
  'MAIL_SMTP_URL',
  'MAIL_FROM',
  'MAIL_TO',
  'ROBOT_URL',
  'ROBOT_KIND',
  'ROBOT_SECRET',
] as const
export type SecretKey = (typeof KEYS)[number]

/** The values by their keys, without empty ones. */
export type SecretValues = ReadonlyMap<SecretKey, Secret>

const READABLE_BY_OTHERS = 0o077
// KEY=value, with or without `export` and quotes. Unlike `util.parseEnv`, a `#` is part of a value and a quote that is
// not closed ends with its line: a secret must not be cut, and one wrong line must not take the next ones with it.
const LINE = /^\s*(?:export\s+)?([A-Z_][A-Z0-9_]*)\s*=\s*(.*?)\s*$/

/**
 * Reads the credentials of the channels. A missing file has none. A file that others can access, or that cannot be read,
 * is a problem; its description contains nothing of the file.
 */
export function readSecrets(path: string): { readonly values: SecretValues } | { readonly problem: string } {
  try {
    return { values: parseSecrets(readPrivate(path)) }
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return { values: new Map() }
    return { problem: `${path}: ${errorMessage(error)}` }
  }
}

function readPrivate(path: string): string {
  const file = openSync(path, 'r')
  try {
    // Of the open file: the path may name another file a moment later.
    const { mode, uid } = fstatSync(file)
    if (mode & READABLE_BY_OTHERS) throw new Error('group or others have access to it; chmod 600 it')
    if (uid !== 0 && uid !== process.getuid?.())
      throw new Error('it belongs to another user; chown it to root')
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function parseSecrets(text: string): SecretValues {
  const values = new Map<SecretKey, Secret>()
  for (const line of text.split(/\r?\n/)) {
    const [, name = '', raw = ''] = LINE.exec(line) ?? []
    const key = KEYS.find((each) => each === name)
    const value = unquote(raw)
    if (key && value !== '') values.set(key, new Secret(value))
  }
  return values
}

function unquote(raw: string): string {
  return /^(["'])(.*)\1$/.exec(raw)?.[2] ?? raw
}
