import type { Clock } from '../../kernel/clock.ts'
import { AppError, type TokenFault } from '../../kernel/errors.ts'
import type { IdentityToken } from '../../kernel/identity.ts'
import { DAY, MINUTE, SECOND } from '../../kernel/time.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { shareToken } from './api-tokens/store.ts'
import { endedTokens, changeRows, readRow, readRows } from './tables.ts'

/** A token of a login that its owner has ended, by its `jti` (RFC 7519, section 4.1.7); times are epoch milliseconds. */
export interface EndedToken {
  readonly tokenId: string
  readonly endedAt: number
  /** From then on it is refused anyway. */
  readonly expiresAt: number
}

const insertEnded = changeRows((on, token: EndedToken) =>
  on
    .insertInto('ended_tokens')
    .values(endedTokens.values(token))
    .onConflict((conflict) => conflict.column('token_id').doNothing()),
)

const findEnded = readRow((on, tokenId: string) =>
  on.selectFrom('ended_tokens').select(endedTokens.pick('tokenId')).where('token_id', '=', tokenId),
)

const listEndedSince = readRows((on, since: number) =>
  on.selectFrom('ended_tokens').select(endedTokens.all).where('ended_at', '>=', since),
)

const deleteExpired = changeRows((on, before: number) =>
  on.deleteFrom('ended_tokens').where('expires_at', '<', before),
)

/** Ends a token; repeated calls change nothing. Forgets those that have expired for long. */
export async function endToken(tx: Tx, token: EndedToken): Promise<void> {
  await deleteExpired(tx, token.endedAt - KEPT_MS)
  await insertEnded(tx, token)
}

// docs/specification.md, Identity: a token that was ended stops working within 10 s in every process.
const FRESH_MS = 5 * SECOND
// Clocks of two hosts may differ, and a transaction may commit later than it began.
const LEEWAY_MS = 2 * MINUTE
// If the clock was set back by more than this, new rows may have earlier times than the ones that were read already.
const CLOCK_STEP_MS = MINUTE
// Rows are kept for so long after their token has expired: when a clock that was ahead is corrected, the token is valid again.
const KEPT_MS = 2 * DAY

/** A copy of the ended tokens in this process: it has all that any process has ended up to five seconds ago. */
export class EndedTokens {
  readonly #read: Queries
  readonly #clock: Clock
  /** When each one expires. */
  readonly #ended = new Map<string, number>()
  #readAt = Number.NEGATIVE_INFINITY
  #since = 0
  /** The difference between the wall clock and the monotonic clock at the last read. */
  #clockOffset = 0
  #reading: Promise<void> | undefined

  constructor(read: Queries, clock: Clock) {
    this.#read = read
    this.#clock = clock
  }

  get isFresh(): boolean {
    return this.#clock.monotonic() - this.#readAt < FRESH_MS
  }

  has(tokenId: string): boolean {
    return this.#ended.has(tokenId)
  }

  /** Must be called after the commit that has ended the token. */
  add({ tokenId, expiresAt }: EndedToken): void {
    this.#ended.set(tokenId, expiresAt)
  }

  /** Reads what is new; parallel calls share one read. */
  refresh(): Promise<void> {
    this.#reading ??= this.#refresh().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async #refresh(): Promise<void> {
    const [began, now] = [this.#clock.monotonic(), this.#clock.now()]
    const isSetBack = now - began < this.#clockOffset - CLOCK_STEP_MS
    const since = isSetBack ? 0 : this.#since
    for (const token of await listEndedSince(this.#read, since)) this.add(token)
    for (const [tokenId, expiresAt] of this.#ended) if (expiresAt < now - KEPT_MS) this.#ended.delete(tokenId)
    this.#clockOffset = now - began
    this.#readAt = began
    this.#since = now - LEEWAY_MS
  }
}

/** The error for a token that is not accepted. */
export function refusedToken(tokenFault: TokenFault, message: string): AppError {
  return new AppError('unauthenticated', 'unauthenticated', message, { tokenFault })
}

const REMEDIES = { session: 'sign in again', api: 'create another one' } as const

/** The error for a token that was valid and is not any more. */
export function tokenRevoked(kind: IdentityToken['kind']): AppError {
  return refusedToken('revoked', `The token was revoked; ${REMEDIES[kind]}.`)
}

/**
 * Throws `unauthenticated` if this token was ended, even if its user may still sign in. Caches of a process may still accept such
 * a token, so whoever stores something that outlives the call checks here, in the same transaction.
 */
export async function requireLiveToken(
  tx: Tx,
  { kind, id }: Pick<IdentityToken, 'kind' | 'id'>,
): Promise<void> {
  const isLive = kind === 'api' ? await shareToken(tx, id) : !(await findEnded(tx, id))
  if (!isLive) throw tokenRevoked(kind)
}
