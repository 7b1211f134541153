import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { readJwtSecret, readOrCreateJwtSecret } from '../config/secrets.ts'
import { AppError } from '../kernel/errors.ts'
import type { RotatedKeys, Secret } from '../kernel/secret.ts'
import { readSigningKeys, recordSigningKeys } from '../store/signing-key-mark.ts'
import type { Reads, Store } from '../store/store.ts'

type KeyConfig = Pick<Config, 'auth' | 'dataDir'>

const NAME_PREFIX = 'key-'
const NAME_DIGITS = 16

/** The configured keys of the tokens, or the one in the data directory. Throws `signing_key_missing` without one. */
export function jwtSecrets(config: KeyConfig): RotatedKeys {
  const keys = existingKeys(config)
  if (keys) return keys
  throw missingKey(
    `No process could verify the token: there is no signing key in ${config.dataDir} yet.`,
    'Start `platform serve` once, which creates it, or set auth.jwt_secret.',
  )
}

/**
 * The keys of a process that serves the database. The first one generates a key unless one is configured; later a key that
 * is gone is `signing_key_missing`, because another one would end every token.
 */
export async function openSigningKeys(config: KeyConfig & Pick<Config, 'readOnly'>, store: Store) {
  // Before the file is read: another process that starts now makes the file first.
  const known = await readSigningKeys(store.read)
  const keys = known === undefined ? createSigningKeys(config) : requireKeys(config)
  const names = keys.map(nameOf).join(' ')
  if (known !== names && !config.readOnly) await store.write((tx) => recordSigningKeys(tx, names))
  return keys
}

/** Whether the platform that serves the database verifies what these keys sign, as far as the database says. */
export async function isKeyServed([current]: RotatedKeys, reads: Reads): Promise<boolean> {
  const names = await readSigningKeys(reads)
  // A program of before 2.4 wrote none.
  return names === undefined || !names.startsWith(NAME_PREFIX) || names.split(' ').includes(nameOf(current))
}

/** Tells one key from another to those who read the database, and to nobody what it is. */
function nameOf(key: Secret): string {
  const digest = createHmac('sha256', key.reveal()).update('name of a signing key').digest('hex')
  return NAME_PREFIX + digest.slice(0, NAME_DIGITS)
}

/** Throws a {@link ConfigError} if there is a key that cannot be used. */
export function hasSigningKey(config: KeyConfig): boolean {
  return existingKeys(config) !== undefined
}

/** Generates a key where there is none. */
export function createSigningKeys(config: KeyConfig): RotatedKeys {
  return config.auth.jwtSecrets ?? [readOrCreateJwtSecret(config.dataDir)]
}

/** What is wrong where a database was served and there is no key, and what to do; both without a full stop. */
export function lostKey(dataDir: string) {
  const path = join(dataDir, 'jwt-secret')
  return {
    reason: `the signing key ${path} is gone, and auth.jwt_secret is not set`,
    remedy: `put your copy of it back, or set auth.jwt_secret; without a copy run "platform db migrate --new", which generates a key: every token ends, and people sign in again`,
  }
}

function requireKeys(config: KeyConfig): RotatedKeys {
  const keys = existingKeys(config)
  if (keys) return keys
  const { reason, remedy } = lostKey(config.dataDir)
  throw missingKey(`The database was served before, but ${reason}:`, `${remedy}.`)
}

function existingKeys({ auth, dataDir }: KeyConfig): RotatedKeys | undefined {
  const secret = auth.jwtSecrets ? undefined : readJwtSecret(dataDir)
  return auth.jwtSecrets ?? (secret && [secret])
}

function missingKey(what: string, remedy: string): AppError {
  return new AppError('unavailable', 'signing_key_missing', `${what} ${remedy}`)
}
