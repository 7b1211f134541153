import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Secret } from '../kernel/secret.ts'
import { requirePrivate, readPrivateText, unusableFile } from './private-file.ts'
import { signingKey } from './signing-keys.ts'
import { shellWord } from '../kernel/text.ts'
import { errorCode } from '../kernel/errors.ts'

const GENERATED_BYTES = 48
const JWT_SECRET = 'auth.jwt_secret'
const AUDIT_KEY = 'audit-key'
const AUDIT_SEAL = 'audit-seal'
// A thousand keys.
const MAX_KEYS_BYTES = 65_536
// docs/specification.md, Gateway: a token is at most 8 KiB
const MAX_TOKEN_BYTES = 8 * 1_024

/**
 * The key that signs JWTs, from `{dataDir}/jwt-secret`; generated there on first start. Processes that start at once
 * agree on one. Throws a {@link ConfigError} when others can read the file, when the key is too short or a placeholder, and
 * when the file cannot be read or made.
 */
export function readOrCreateJwtSecret(dataDir: string): Secret {
  return withSecretFile(dataDir, (path) => readSecret(path) ?? createSecret(path))
}

/** Reads the key of {@link readOrCreateJwtSecret}; undefined if none was generated yet. */
export function readJwtSecret(dataDir: string): Secret | undefined {
  return withSecretFile(dataDir, readSecret)
}

/**
 * The token with which a standby reads the users of its primary. Throws a {@link ConfigError} when others can read the file,
 * when it contains no token, and when it cannot be read.
 */
export function readMirrorToken(path: string): Secret {
  const key = 'gateway.mirror_token_file'
  const text = readPrivateText(path, key, MAX_TOKEN_BYTES)
  // RFC 6750, section 2.1
  if (/^[A-Za-z0-9._~+/-]+=*$/.test(text)) return new Secret(text)
  throw unusableFile(path, key, 'a token of a user with the role service, and nothing else', 'another text')
}

/**
 * Keeps the key of signed identities in `{dataDir}/identity-key`, mode 600, for programs that have no configuration of the
 * platform. Throws the error of the system when that is impossible.
 */
export function keepIdentityKey(dataDir: string, key: Buffer): void {
  const path = join(dataDir, 'identity-key')
  const text = `${key.toString('base64url')}\n`
  if (ignoreCode('ENOENT', () => readFileSync(path, 'utf8')) === text) return
  replacePrivate(path, text)
}

/** The keys of the seals of the audit trail, the newest first; undefined where none was made yet. */
export function readAuditKeys(dataDir: string): [Buffer, ...Buffer[]] | undefined {
  const path = join(dataDir, AUDIT_KEY)
  if (!existsSync(path)) return undefined
  const lines = readPrivateText(path, AUDIT_KEY, MAX_KEYS_BYTES).split('\n')
  const keys = lines.map((line) => Buffer.from(line, 'base64url'))
  const [newest, ...older] = keys
  if (newest && keys.every(({ length }) => length === GENERATED_BYTES)) return [newest, ...older]
  throw unusableFile(path, AUDIT_KEY, 'one key in each line, as the platform has written it', 'another text')
}

/** Reads the keys of {@link readAuditKeys}; makes the first key in `{dataDir}/audit-key`, mode 600. */
export function readOrCreateAuditKeys(dataDir: string): [Buffer, ...Buffer[]] {
  const keys = readAuditKeys(dataDir)
  if (keys) return keys
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  createPrivate(join(dataDir, AUDIT_KEY), generatedLine())
  const created = readAuditKeys(dataDir)
  if (created) return created
  throw unusableFile(join(dataDir, AUDIT_KEY), AUDIT_KEY, 'a file, or a free name', 'a link to nothing')
}

/** Makes a new key for the seals of the audit trail; the older ones stay, to verify what was sealed with them. */
export function rotateAuditKey(dataDir: string): void {
  const path = join(dataDir, AUDIT_KEY)
  const older = readOrCreateAuditKeys(dataDir).map((key) => `${key.toString('base64url')}\n`)
  replacePrivate(path, [generatedLine(), ...older].join(''))
}

/** The newest seal of the audit trail, as text; undefined before the first one. */
export function readAuditSeal(dataDir: string): string | undefined {
  return ignoreCode('ENOENT', () => readFileSync(join(dataDir, AUDIT_SEAL), 'utf8'))?.trim()
}

/** Stores the seal; undefined removes it, because a restored database does not contain the sealed entries. */
export function keepAuditSeal(dataDir: string, seal: string | undefined): void {
  const path = join(dataDir, AUDIT_SEAL)
  if (seal === undefined) ignoreCode('ENOENT', () => unlinkSync(path))
  else replacePrivate(path, `${seal}\n`)
}

function replacePrivate(path: string, text: string): void {
  writePrivate(path, text, (temporary) => renameSync(temporary, path))
}

function generatedLine(): string {
  return `${randomBytes(GENERATED_BYTES).toString('base64url')}\n`
}

function withSecretFile<T>(dataDir: string, use: (path: string) => T): T {
  const path = join(dataDir, 'jwt-secret')
  try {
    return use(path)
  } catch (error) {
    const code = errorCode(error)
    if (code === undefined) throw error
    const usable = 'a file that can be read, or made when there is none'
    throw unusableFile(path, JWT_SECRET, code === 'EACCES' ? readableFile(dataDir) : usable, code)
  }
}

/** Files that root has copied belong to root. */
function readableFile(dataDir: string): string {
  const user = process.geteuid?.()
  const command = `chown -R ${user}:${process.getegid?.()} ${shellWord(dataDir)}`
  return `a file that the user ${user} can read (run as root: ${command}; or run this as the owner of the file)`
}

function readSecret(path: string): Secret | undefined {
  const file = ignoreCode('ENOENT', () => openSync(path, 'r'))
  if (file === undefined) return undefined
  try {
    requirePrivate(path, JWT_SECRET, fstatSync(file))
    const text = readFileSync(file, 'utf8').trim()
    const secret = signingKey.parse(text, '')
    if (secret) return secret
    const expected = `${signingKey.expected}; put your copy back, or remove it and run "platform db migrate --new" to have another one generated`
    throw unusableFile(path, JWT_SECRET, expected, `${Buffer.byteLength(text)} bytes`)
  } finally {
    closeSync(file)
  }
}

function createSecret(path: string): Secret {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  createPrivate(path, generatedLine())
  const secret = readSecret(path)
  if (secret) return secret
  throw unusableFile(path, JWT_SECRET, 'a file, or a free name', 'a link to nothing')
}

/** Makes a file of mode 600, unless another process was first. */
function createPrivate(path: string, text: string): void {
  // Unlike a rename, a link fails when another process was first; then the key of that process counts.
  writePrivate(path, text, (temporary) => ignoreCode('EEXIST', () => linkSync(temporary, path)))
}

/** Writes a temporary file of mode 600, and lets `place` give it its name. */
function writePrivate(path: string, text: string, place: (temporary: string) => void): void {
  const directory = dirname(path)
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  writeFileSync(temporary, text, { flag: 'wx', mode: 0o600, flush: true })
  try {
    chmodSync(temporary, 0o600) // the umask may have taken the owner's permissions
    giveToOwnerOf(directory, temporary)
    place(temporary)
  } finally {
    ignoreCode('ENOENT', () => unlinkSync(temporary))
  }
  syncDirectory(directory)
}

/** A command of root leaves a file that the user of the service can read. */
function giveToOwnerOf(directory: string, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(directory)
  chownSync(path, uid, gid)
}

function ignoreCode<T>(code: string, call: () => T): T | undefined {
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
