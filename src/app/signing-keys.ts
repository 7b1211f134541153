import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { readJwtSecret, readOrCreateJwtSecret } from '../config/secrets.ts'
import { AppError } from '../kernel/errors.ts'
import type { RotatedKeys } from '../kernel/secret.ts'
import { isSigningKeyInUse, recordSigningKey } from '../store/signing-key-mark.ts'
import type { Store } from '../store/store.ts'

type KeyConfig = Pick<Config, 'auth' | 'dataDir'>

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
  const isInUse = await isSigningKeyInUse(store.read)
  const keys = isInUse ? requireKeys(config) : createSigningKeys(config)
  if (!isInUse && !config.readOnly) await store.write(recordSigningKey)
  return keys
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
