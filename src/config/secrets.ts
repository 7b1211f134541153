import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Secret } from '../kernel/secret.ts'
import { ConfigError } from './config-error.ts'
import { isGuessable } from './guessable-secrets.ts'
import { JWT_SECRET_MINIMUM_BYTES } from './schema.ts'

const MADE_BYTES = 48
const REMEDY = '(remove the file to have a new one made)'

/**
 * The key that signs JWTs, from `{dataDir}/jwt-secret`; made there on first start. Processes that start at once agree
 * on one. Throws a {@link ConfigError} when the file can be read by others, is too short, or cannot be read or made.
 */
export function readOrCreateJwtSecret(dataDir: string): Secret {
  const path = join(dataDir, 'jwt-secret')
  try {
    return readSecret(path) ?? createSecret(path)
  } catch (error) {
    const code = errorCode(error)
    if (code === undefined) throw error
    throw unusable(path, 'a file that can be read, and made when it is not there', code)
  }
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function unusable(path: string, expected: string, got: string): ConfigError {
  return new ConfigError([{ source: `file ${path}`, key: 'auth.jwt_secret', expected, got }])
}

function readSecret(path: string): Secret | undefined {
  const file = openIfThere(path)
  if (file === undefined) return undefined
  try {
    refuseReadable(path, fstatSync(file).mode)
    return toSecret(path, readFileSync(file, 'utf8').trim())
  } finally {
    closeSync(file)
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function refuseReadable(path: string, mode: number): void {
  if ((mode & 0o077) === 0) return
  const got = `mode ${(mode & 0o777).toString(8)}`
  throw unusable(path, `mode 600, for its owner alone (run: chmod 600 ${path})`, got)
}

function toSecret(path: string, text: string): Secret {
  const bytes = Buffer.byteLength(text)
  if (bytes < JWT_SECRET_MINIMUM_BYTES)
    throw unusable(path, `at least ${JWT_SECRET_MINIMUM_BYTES} bytes ${REMEDY}`, `${bytes}`)
  if (isGuessable(text))
    throw unusable(path, `a key that nobody would guess ${REMEDY}`, 'one that is tried first')
  return new Secret(text)
}

function createSecret(path: string): Secret {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  writeDurably(temporary, randomBytes(MADE_BYTES).toString('base64url'))
  try {
    linkUnlessThere(temporary, path)
  } finally {
    unlinkSync(temporary)
  }
  syncDirectory(dirname(path))
  const secret = readSecret(path)
  if (secret) return secret
  throw unusable(path, 'a file, or a name that is free', 'a link to nothing')
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    fchmodSync(file, 0o600)
    writeSync(file, `${text}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** A link, unlike a rename, fails when another process was first; its secret is then the one to use. */
function linkUnlessThere(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
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
