import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { readJwtSecret, readOrCreateJwtSecret } from '../config/secrets.ts'
import { systemClock } from '../kernel/clock.ts'
import { AppError, type SentenceCause } from '../kernel/errors.ts'
import type { Logger } from '../kernel/logger.ts'
import type { RotatedKeys, Secret } from '../kernel/secret.ts'
import { DAY, toRfc3339 } from '../kernel/time.ts'
import {
  readReplacedKeys,
  readSigningKeys,
  recordReplacedKeys,
  recordSigningKeys,
  type ReplacedKeys,
  listServing,
  type ServingProcess,
} from '../store/work/marks.ts'
import type { Reads, Store, Tx } from '../store/store.ts'

interface KeyConfig extends Pick<Config, 'dataDir'> {
  readonly auth: Pick<Config['auth'], 'jwtSecrets'>
}

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

/** Longer than most tokens are valid; docs/specification.md, Identity */
const LONGEST_TOKEN_MS = 30 * DAY

/**
 * The keys of a process that serves the database. The first one generates a key unless one is configured; later a key that
 * is gone is `signing_key_missing`, because another one would end every token. Another key in its place is an error in the log.
 */
export async function openSigningKeys(
  config: KeyConfig & Pick<Config, 'readOnly'>,
  store: Store,
  logger: Logger,
): Promise<RotatedKeys> {
  // Before the file is read: another process that starts now makes the file first.
  const known = await readSigningKeys(store.read)
  const keys = known === undefined ? createSigningKeys(config) : await requireKeys(config, store.read)
  const names = keys.map(nameOf)
  if (known === names.join(' ') || config.readOnly) return keys
  const isReplaced = await store.write((tx) => recordKeys(tx, names))
  if (isReplaced) logger.error({ setting: 'auth.jwt_secret' }, REPLACED_KEY)
  return keys
}

const REPLACED_KEY =
  'the signing key is another one than that of the last start: all older tokens are refused. If this is not intended, put your copy of the former key back and restart; otherwise create new tokens for programs'

/** Whether keys were replaced. Those of the first time count: what a mistake has put there may be replaced in turn. */
async function recordKeys(tx: Tx, names: readonly string[]): Promise<boolean> {
  const served = namesIn(await readSigningKeys(tx))
  const before = await readReplacedKeys(tx)
  const now = systemClock.now()
  const replaced =
    before && before.until > now ? before : served && { names: served, until: now + LONGEST_TOKEN_MS }
  const isReplaced = replaced !== undefined && !haveCommon(replaced.names, names)
  await recordReplacedKeys(tx, isReplaced ? replaced : undefined)
  await recordSigningKeys(tx, names.join(' '))
  return isReplaced && served !== undefined && !haveCommon(served, names)
}

/** What the database knows of the keys with which it is served. */
export interface KnownKeys {
  /** The names of the keys of the last start; undefined if none was, or by a program that wrote none. */
  readonly served: readonly string[] | undefined
  readonly replaced: ReplacedKeys | undefined
}

/** The schema must be current. */
export async function readKnownKeys(reads: Reads): Promise<KnownKeys> {
  return { served: namesIn(await readSigningKeys(reads)), replaced: await readReplacedKeys(reads) }
}

/** What is wrong with the keys of the configuration, by what the database knows. */
export function keyFault(
  config: KeyConfig,
  { served, replaced }: KnownKeys,
  now: number,
): SentenceCause<'key_changed' | 'key_replaced'> | undefined {
  const names = existingKeys(config)?.map(nameOf)
  if (!names || !served) return undefined
  if (!haveCommon(served, names)) return { code: 'key_changed', values: {} }
  if (!replaced || replaced.until <= now || haveCommon(replaced.names, names)) return undefined
  return { code: 'key_replaced', values: { until: toRfc3339(replaced.until) } }
}

/** Whether the platform that serves the database verifies what these keys sign, as far as the database says. */
export async function isKeyServed([current]: RotatedKeys, reads: Reads): Promise<boolean> {
  return namesIn(await readSigningKeys(reads))?.includes(nameOf(current)) ?? true
}

/** A program of before 2.4 wrote none. */
function namesIn(mark: string | undefined): readonly string[] | undefined {
  return mark?.startsWith(NAME_PREFIX) === true ? mark.split(' ') : undefined
}

function haveCommon(some: readonly string[], others: readonly string[]): boolean {
  return some.some((name) => others.includes(name))
}

/** A name that differs between keys, and from which nobody who reads the database can compute the key. */
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
export function lostKey(dataDir: string, [other]: readonly ServingProcess[]) {
  const path = join(dataDir, 'jwt-secret')
  // Another key would end every token of the platform that runs.
  if (other)
    return {
      reason: `the platform on ${other.host} (process ${other.processId}, data_dir ${other.dataDir}) serves this database, and its signing key is not in ${path}`,
      remedy: `copy its jwt-secret there, or set the same auth.jwt_secret; if this is another installation, give it a database of its own`,
    }
  return {
    reason: `the signing key ${path} is gone, and auth.jwt_secret is not set`,
    remedy: `put your copy of it back, or set auth.jwt_secret; without a copy run "platform db migrate --new", which generates a key: every token ends, and people sign in again`,
  }
}

async function requireKeys(config: KeyConfig, reads: Reads): Promise<RotatedKeys> {
  const keys = existingKeys(config)
  if (keys) return keys
  const { reason, remedy } = lostKey(config.dataDir, await listServing(reads, systemClock.now()))
  throw missingKey(`The database was served before, but ${reason}:`, `${remedy}.`)
}

function existingKeys({ auth, dataDir }: KeyConfig): RotatedKeys | undefined {
  const secret = auth.jwtSecrets ? undefined : readJwtSecret(dataDir)
  return auth.jwtSecrets ?? (secret && [secret])
}

function missingKey(what: string, remedy: string): AppError {
  return new AppError('unavailable', 'signing_key_missing', `${what} ${remedy}`)
}
