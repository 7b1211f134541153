import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Secret } from '../kernel/secret.ts'
import { ConfigError } from './config-error.ts'
import { signingKey } from './value-types.ts'

const GENERATED_BYTES = 48

/**
 * The key that signs JWTs, from `{dataDir}/jwt-secret`; generated there on first start. Processes that start at once
 * agree on one. Throws a {@link ConfigError} when others can read the file, when the key is too short or guessable, and
 * when the file cannot be read or made.
 */
export function readOrCreateJwtSecret(dataDir: string): Secret {
  return withSecretFile(dataDir, (path) => readSecret(path) ?? createSecret(path))
}

/** As {@link readOrCreateJwtSecret}, but undefined where no key was generated yet. */
export function readJwtSecret(dataDir: string): Secret | undefined {
  return withSecretFile(dataDir, readSecret)
}

function withSecretFile<T>(dataDir: string, use: (path: string) => T): T {
  const path = join(dataDir, 'jwt-secret')
  try {
    return use(path)
  } catch (error) {
    const code = errorCode(error)
    if (code === undefined) throw error
    throw unusable(path, 'a file that can be read, or made when there is none', code)
  }
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function unusable(path: string, expected: string, got: string): ConfigError {
  return new ConfigError([{ source: `file ${path}`, key: 'auth.jwt_secret', expected, got }])
}

function readSecret(path: string): Secret | undefined {
  const file = ignoring('ENOENT', () => openSync(path, 'r'))
  if (file === undefined) return undefined
  try {
    requirePrivate(path, fstatSync(file).mode)
    const text = readFileSync(file, 'utf8').trim()
    const secret = signingKey.parse(text, '')
    if (secret) return secret
    const expected = `${signingKey.expected}; remove the file to have a new one generated`
    throw unusable(path, expected, `${Buffer.byteLength(text)} bytes`)
  } finally {
    closeSync(file)
  }
}

function requirePrivate(path: string, mode: number): void {
  if ((mode & 0o077) === 0) return
  throw unusable(
    path,
    `mode 600, for its owner alone (run: chmod 600 ${path})`,
    `mode ${(mode & 0o777).toString(8)}`,
  )
}

function createSecret(path: string): Secret {
  const directory = dirname(path)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const text = `${randomBytes(GENERATED_BYTES).toString('base64url')}\n`
  writeFileSync(temporary, text, { flag: 'wx', mode: 0o600, flush: true })
  try {
    chmodSync(temporary, 0o600) // the umask may have taken the owner's permissions
    // Unlike a rename, a link fails when another process was first; then the key of that process counts.
    ignoring('EEXIST', () => linkSync(temporary, path))
  } finally {
    unlinkSync(temporary)
  }
  syncDirectory(directory)
  const secret = readSecret(path)
  if (secret) return secret
  throw unusable(path, 'a file, or a free name', 'a link to nothing')
}

function ignoring<T>(code: string, call: () => T): T | undefined {
  try {
    return call()
  } catch (error) {
    if (errorCode(error) === code) return undefined
    throw error
  }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
