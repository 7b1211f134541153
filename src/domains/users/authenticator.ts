import { LRUCache } from 'lru-cache'
import type { Clock } from '../../kernel/clock.ts'
import { knownRoles, type Identity, type Role } from '../../kernel/identity.ts'
import type { Logger } from '../../kernel/logger.ts'
import { HOUR, SECOND, toRfc3339 } from '../../kernel/time.ts'
import type { Authenticator, TokenClaims, TokenHolder } from '../../ports/authentication.ts'
import type { Queries, TouchedRow, Tx } from '../../store/store.ts'
import { rolesOfToken, type ApiToken } from './api-tokens/model.ts'
import { apiTokenRow } from './api-tokens/store.ts'
import type { ApiTokens } from './api-tokens/service.ts'
import { hashToken, isTokenText, TOKEN_PREFIX } from './api-tokens/token-text.ts'
import { type EndedTokens, refusedToken, requireLiveToken, tokenRevoked } from './ended-tokens.ts'
import { acceptsToken, type TokenIssue, type User } from './model.ts'
import type { Users } from './service.ts'
import { findUser, lockUser, shareUser, userRow } from './store.ts'

/** What the authenticator needs of the rest of the platform. */
export interface AuthenticatorDeps {
  readonly store: { readonly read: Queries }
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
  readonly users: Pick<Users, 'onUserChanged'>
  readonly apiTokens: Pick<ApiTokens, 'find' | 'recordUse'>
  readonly ended: Pick<EndedTokens, 'isFresh' | 'has' | 'refresh'>
  /** The api of the primary, on a standby: it knows no API tokens. */
  readonly primary?: string | undefined
  /** Throws `unauthenticated` for a token that is forged or expired. */
  readonly tokens: { verify(token: string): TokenClaims }
  /** The number of tokens, and of users, that are cached. */
  readonly limit?: number
}

interface VerifiedToken {
  readonly claims: TokenClaims
  readonly roles: readonly Role[]
}

const CACHE_LIMIT = 10_000
const TAKEN_BY_PRIMARY =
  'A standby gateway takes no API tokens, because it has only a copy of the users; use the primary, or a token of a login.'

export function createAuthenticator(deps: AuthenticatorDeps): Authenticator {
  const { store, clock, tokens, ended, limit = CACHE_LIMIT } = deps
  const warnOfToken = createTokenWarning(deps)
  const verified = new LRUCache<string, VerifiedToken>({ max: limit })
  const users = new ReadCache<User>({ find: (id) => findUser(store.read, id), clock, limit })
  const apiTokens = new ReadCache<ApiToken>({ find: (hash) => deps.apiTokens.find(hash), clock, limit })
  deps.users.onUserChanged((id) => {
    users.invalidate(id)
    apiTokens.invalidateWhere(({ userId }) => userId === id)
  })

  const verify = (token: string): VerifiedToken => {
    const cached = verified.get(token)
    if (cached && cached.claims.expiresAt > clock.now()) return cached
    const claims = tokens.verify(token)
    const fresh = { claims, roles: knownRoles(claims.roles) }
    verified.set(token, fresh)
    return fresh
  }

  /** Synchronous when the user is cached, because it runs for every request. */
  const holderOf = (token: string): TokenHolder | Promise<TokenHolder> => {
    const known = verify(token)
    return ended.isFresh ? liveHolder(known) : ended.refresh().then(() => liveHolder(known))
  }

  const liveHolder = ({ claims, roles }: VerifiedToken): TokenHolder | Promise<TokenHolder> => {
    if (claims.tokenId !== undefined && ended.has(claims.tokenId)) throw tokenRevoked('session')
    const cached = users.get(claims.userId)
    if (cached && acceptsToken(cached, claims)) return toHolder(cached, claims, roles)
    // The token may have been issued after a change by another process, which the cache does not contain yet.
    return users.read(claims.userId).then((user) => toHolder(requireAccepted(user, claims), claims, roles))
  }

  const apiTokenHolder = (text: string, from?: string): TokenHolder | Promise<TokenHolder> => {
    if (deps.primary !== undefined) throw refusedToken('invalid', TAKEN_BY_PRIMARY)
    if (!isTokenText(text)) throw refusedToken('invalid', 'The token is not valid.')
    const hash = hashToken(text)
    const token = apiTokens.get(hash)
    const user = token && users.get(token.userId)
    if (user) return toTokenHolder(token, user)
    return readHolder(hash)

    function toTokenHolder(known: ApiToken, owner: User): TokenHolder {
      warnOfToken(known, owner)
      const holder = holderOfToken(known, owner, clock.now())
      if (from !== undefined) void deps.apiTokens.recordUse(known.id, from)
      return holder
    }

    async function readHolder(key: string): Promise<TokenHolder> {
      const known = await apiTokens.read(key)
      const owner = known && (await users.read(known.userId))
      if (!known || !owner) throw tokenRevoked('api')
      return toTokenHolder(known, owner)
    }
  }

  const anyHolder = (token: string, from?: string) =>
    token.startsWith(TOKEN_PREFIX) ? apiTokenHolder(token, from) : holderOf(token)

  return {
    authenticate(token, from) {
      const holder = anyHolder(token, from)
      return holder instanceof Promise ? holder.then(({ identity }) => identity) : holder.identity
    },
    holder: async (token, from) => anyHolder(token, from),
  }
}

const WARN_EVERY_MS = HOUR

/** A program that goes on with a token that has ended is refused in silence, and nobody looks at its log. */
function createTokenWarning({ clock, logger }: Pick<AuthenticatorDeps, 'clock' | 'logger'>) {
  const warned = new LRUCache<string, number>({ max: CACHE_LIMIT })
  return ({ id, name, expiresAt }: ApiToken, user: User): void => {
    const hasExpired = expiresAt <= clock.now()
    if (user.enabled && !hasExpired) return
    const reason = user.enabled ? 'it has expired' : 'its user is disabled'
    const lastAt = warned.get(id)
    if (lastAt !== undefined && clock.monotonic() - lastAt < WARN_EVERY_MS) return
    warned.set(id, clock.monotonic())
    const facts = { id, name, user: user.name, expires_at: toRfc3339(expiresAt), reason }
    logger.warn(facts, 'an API token is refused: give its program another one')
  }
}

/** Throws `unauthenticated` for a token that has expired. */
function holderOfToken(token: ApiToken, user: User, now: number): TokenHolder {
  const { id, createdAt, expiresAt } = token
  if (!user.enabled) throw tokenRevoked('api')
  if (expiresAt <= now) throw refusedToken('expired', 'The API token has expired; create another one.')
  const identity: Identity = {
    id: user.id,
    name: user.name,
    roles: rolesOfToken(token, user),
    via: 'token',
    token: { kind: 'api', id, expiresAt },
  }
  const issuedAt = Math.max(createdAt, user.tokensValidFrom)
  return { identity, generation: user.tokenGeneration, issuedAt, expiresAt }
}

/**
 * Checks again, inside a transaction, a token that was valid a moment ago. Until the transaction ends the user cannot be
 * changed; with the lock `exclusive` no other transaction can check a token of that user either. Rejects with
 * `unauthenticated`.
 */
export async function requireTokenHolder(
  tx: Tx,
  userId: string,
  token: TokenIssue,
  lock: 'shared' | 'exclusive' = 'shared',
): Promise<void> {
  const user = lock === 'exclusive' ? await lockUser(tx, userId) : await shareUser(tx, userId)
  requireAccepted(user, token)
  if (token.token) await requireLiveToken(tx, token.token)
}

/** What {@link requireTokenHolder} touches. */
export function tokenHolderRows(userId: string, { token }: TokenIssue): TouchedRow[] {
  return [userRow(userId), ...(token?.kind === 'api' ? [apiTokenRow(token.id)] : [])]
}

/** The name is the user's: a program that signs tokens may write anything into `name`. */
function toHolder({ id, name }: User, claims: TokenClaims, roles: readonly Role[]): TokenHolder {
  const { generation, purpose, issuedAt, expiresAt, tokenId } = claims
  const token = tokenId === undefined ? {} : { token: { kind: 'session', id: tokenId, expiresAt } as const }
  const identity: Identity = { id, name, roles, via: 'token', ...(purpose && { purpose }), ...token }
  return { identity, generation, issuedAt, expiresAt }
}

function requireAccepted(user: User | undefined, token: TokenIssue): User {
  if (user && acceptsToken(user, token)) return user
  throw tokenRevoked('session')
}

interface ReadCacheOptions<T> {
  readonly find: (key: string) => Promise<T | undefined>
  readonly clock: Clock
  readonly limit: number
}

interface Cached<T> {
  readonly value: T
  readonly readAt: number
}

// docs/specification.md, Identity: the tokens of a disabled user stop working within 10 s. A change by another process
// takes effect when the row is read again.
const TTL_MS = 5 * SECOND

/** Caches rows for at most five seconds. {@link ReadCache.invalidate} also discards the result of a read in progress. */
class ReadCache<T extends object> {
  readonly #options: ReadCacheOptions<T>
  readonly #cached: LRUCache<string, Cached<T>>
  readonly #pending = new Map<string, Promise<T | undefined>>()

  constructor(options: ReadCacheOptions<T>) {
    this.#options = options
    this.#cached = new LRUCache({ max: options.limit })
  }

  /** Undefined when the row has to be read. */
  get(key: string): T | undefined {
    const cached = this.#cached.get(key)
    return cached && this.#options.clock.monotonic() - cached.readAt < TTL_MS ? cached.value : undefined
  }

  /** Reads the row from the store; parallel calls share one read. */
  read(key: string): Promise<T | undefined> {
    const reading = this.#pending.get(key) ?? this.#start(key)
    this.#pending.set(key, reading)
    return reading
  }

  /** Must be called after each change of the row in this process. */
  invalidate(key: string): void {
    this.#cached.delete(key)
    this.#pending.delete(key)
  }

  /** Forgets every row that matches. */
  invalidateWhere(matches: (value: T) => boolean): void {
    for (const [key, { value }] of this.#cached.entries()) if (matches(value)) this.#cached.delete(key)
    this.#pending.clear()
  }

  #start(key: string): Promise<T | undefined> {
    const readAt = this.#options.clock.monotonic()
    const isCurrent = () => this.#pending.get(key) === reading
    const reading = this.#options
      .find(key)
      .then((value) => {
        // Invalidated during the read: the result may be outdated.
        if (!isCurrent()) return this.read(key)
        if (value) this.#cached.set(key, { value, readAt })
        return value
      })
      .finally(() => {
        if (isCurrent()) this.#pending.delete(key)
      })
    return reading
  }
}
