import { LRUCache } from 'lru-cache'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { knownRoles, type Identity, type Role } from '../../kernel/identity.ts'
import type { Authenticator, TokenClaims, TokenHolder } from '../../ports/authenticator.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { acceptsToken, type TokenIssue, type User } from './model.ts'
import type { Users } from './service.ts'
import { findUser, lockUser, shareUser } from './store.ts'
import { UserCache } from './user-cache.ts'

/** What the authenticator needs of the rest of the platform. */
export interface AuthenticatorDeps {
  readonly store: { readonly read: Queries }
  readonly clock: Clock
  readonly users: Pick<Users, 'onUserChanged'>
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

export function createAuthenticator(deps: AuthenticatorDeps): Authenticator {
  const { store, clock, tokens, limit = CACHE_LIMIT } = deps
  const verified = new LRUCache<string, VerifiedToken>({ max: limit })
  const users = new UserCache({ find: (id) => findUser(store.read, id), clock, limit })
  deps.users.onUserChanged((id) => users.invalidate(id))

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
    const { claims, roles } = verify(token)
    const cached = users.get(claims.userId)
    if (cached && acceptsToken(cached, claims)) return toHolder(cached, claims, roles)
    // The token may have been issued after a change by another process, which the cache does not contain yet.
    return users.read(claims.userId).then((user) => toHolder(requireAccepted(user, claims), claims, roles))
  }

  return {
    authenticate(token) {
      const holder = holderOf(token)
      return holder instanceof Promise ? holder.then(({ identity }) => identity) : holder.identity
    },
    holder: async (token) => holderOf(token),
  }
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
}

/** The name is the user's: a program that signs tokens may write anything into `name`. */
function toHolder({ id, name }: User, claims: TokenClaims, roles: readonly Role[]): TokenHolder {
  const { generation, purpose, issuedAt, expiresAt } = claims
  const identity: Identity = { id, name, roles, via: 'token', ...(purpose && { purpose }) }
  return { identity, generation, issuedAt, expiresAt }
}

function requireAccepted(user: User | undefined, token: TokenIssue): User {
  if (user && acceptsToken(user, token)) return user
  throw new AppError('unauthenticated', 'unauthenticated', 'The token was revoked; sign in again.', {
    tokenFault: 'revoked',
  })
}
