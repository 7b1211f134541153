import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { RotatedKeys, Secret } from '../kernel/secret.ts'
import { HOUR } from '../kernel/time.ts'
import type { IdempotencyKeys, KeyedRequest, StoredAnswer } from '../ports/idempotency-keys.ts'
import type { Store, Tx } from './store.ts'
import { changeRow, changeRows, readRow } from './tables.ts'

// docs/specification.md, HTTP API: 24 h
const KEPT_MS = 24 * HOUR

const claimKey = changeRow((db, caller: string, key: string, requestHash: string, at: number) =>
  db
    .insertInto('idempotency_keys')
    .values({ caller, key, request_hash: requestHash, status: 0, answer: '', created_at: at })
    .onConflict((conflict) => conflict.columns(['caller', 'key']).doNothing()),
)

const setAnswer = changeRows((db, caller: string, key: string, status: number, answer: string) =>
  db
    .updateTable('idempotency_keys')
    .set({ status, answer })
    .where('caller', '=', caller)
    .where('key', '=', key),
)

const findAnswer = readRow((db, caller: string, key: string, since: number) =>
  db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'status', 'answer'])
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where('created_at', '>=', since),
)

const removeExpired = changeRows((db, caller: string, key: string, before: number) =>
  db
    .deleteFrom('idempotency_keys')
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where('created_at', '<', before),
)

export interface DatabaseIdempotencyKeysOptions {
  readonly store: Store
  readonly clock: Clock
  /** Key the hash of a request, whose body may hold a password. */
  readonly secrets: RotatedKeys
}

/** The answers as rows: an answer is committed together with the change that it reports. */
export class DatabaseIdempotencyKeys implements IdempotencyKeys {
  readonly #options: DatabaseIdempotencyKeysOptions

  constructor(options: DatabaseIdempotencyKeysOptions) {
    this.#options = options
  }

  async find({ caller, key, text }: KeyedRequest): Promise<StoredAnswer | undefined> {
    const { store, clock } = this.#options
    const row = await findAnswer(store.read, caller, key, clock.now() - KEPT_MS)
    if (!row || row.answer === '') return undefined
    if (!this.#isHashOf(text, row.request_hash)) throw keyReused()
    return { ...(JSON.parse(row.answer) as StoredAnswer), status: row.status }
  }

  async claim(tx: Tx, { caller, key, text }: KeyedRequest): Promise<boolean> {
    const at = this.#options.clock.now()
    await removeExpired(tx, caller, key, at - KEPT_MS)
    return claimKey(tx, caller, key, this.#hash(text), at)
  }

  async store(tx: Tx, { caller, key }: KeyedRequest, { status, body, headers }: StoredAnswer): Promise<void> {
    await setAnswer(tx, caller, key, status, JSON.stringify({ body, headers }))
  }

  /** Removes one batch of the answers that are older than 24 hours; returns how many. */
  async prune(limit: number): Promise<number> {
    const before = this.#options.clock.now() - KEPT_MS
    const { numAffectedRows } = await this.#options.store.write(({ db }) =>
      sql`delete from idempotency_keys where (caller, key) in (
        select caller, key from idempotency_keys where created_at < ${before} order by created_at limit ${limit}
      )`.execute(db),
    )
    return Number(numAffectedRows)
  }

  #hash(text: string): string {
    return hashWith(this.#options.secrets[0], text)
  }

  /** Whether the hash is that of the text, made with the present secret or with a former one. */
  #isHashOf(text: string, hash: string): boolean {
    return this.#options.secrets.some((secret) => hashWith(secret, text) === hash)
  }
}

function hashWith(secret: Secret, text: string): string {
  return createHmac('sha256', secret.reveal()).update(text).digest('base64url')
}

function keyReused(): AppError {
  const message = 'The Idempotency-Key was used before for another request.'
  return new AppError('conflict', 'idempotency_key_reused', message)
}
