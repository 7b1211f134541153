import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { RotatedKeys, Secret } from '../kernel/secret.ts'
import { HOUR } from '../kernel/time.ts'
import type { IdempotencyKeys, KeyedRequest, StoredAnswer } from '../ports/idempotency-keys.ts'
import { statement } from './tables.ts'
import { first, type Store, type Tx } from './store.ts'

// docs/specification.md, HTTP API: 24 h
const KEPT_MS = 24 * HOUR

const claim = statement<{ caller: string; key: string; hash: string; at: number }>((db, value) =>
  db
    .insertInto('idempotency_keys')
    .values({
      caller: value('caller'),
      key: value('key'),
      request_hash: value('hash'),
      status: 0,
      answer: '',
      created_at: value('at'),
    })
    .onConflict((conflict) => conflict.columns(['caller', 'key']).doNothing()),
)

const setAnswer = statement<{ caller: string; key: string; status: number; answer: string }>((db, value) =>
  db
    .updateTable('idempotency_keys')
    .set({ status: value('status'), answer: value('answer') })
    .where('caller', '=', value('caller'))
    .where('key', '=', value('key')),
)

const find = statement<
  { caller: string; key: string; since: number },
  { request_hash: string; status: number; answer: string }
>((db, value) =>
  db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'status', 'answer'])
    .where('caller', '=', value('caller'))
    .where('key', '=', value('key'))
    .where('created_at', '>=', value('since')),
)

const removeExpired = statement<{ caller: string; key: string; before: number }>((db, value) =>
  db
    .deleteFrom('idempotency_keys')
    .where('caller', '=', value('caller'))
    .where('key', '=', value('key'))
    .where('created_at', '<', value('before')),
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
    const row = await first(store.read, find, { caller, key, since: clock.now() - KEPT_MS })
    if (!row || row.answer === '') return undefined
    if (!this.#isHashOf(text, row.request_hash)) throw keyReused()
    return { ...(JSON.parse(row.answer) as StoredAnswer), status: row.status }
  }

  async claim(tx: Tx, { caller, key, text }: KeyedRequest): Promise<boolean> {
    const at = this.#options.clock.now()
    await tx.change(removeExpired, { caller, key, before: at - KEPT_MS })
    return (await tx.change(claim, { caller, key, hash: this.#hash(text), at })) === 1
  }

  async store(tx: Tx, { caller, key }: KeyedRequest, { status, body, headers }: StoredAnswer): Promise<void> {
    await tx.change(setAnswer, { caller, key, status, answer: JSON.stringify({ body, headers }) })
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

  /** Also of a hash that a former key has made. */
  #isHashOf(text: string, hash: string): boolean {
    return this.#options.secrets.some((secret) => hashWith(secret, text) === hash)
  }
}

function hashWith(secret: Secret, text: string): string {
  return createHmac('sha256', secret.reveal()).update(text).digest('base64url')
}

function keyReused(): AppError {
  return new AppError(
    'conflict',
    'idempotency_key_reused',
    'The Idempotency-Key was used before for another request.',
  )
}
