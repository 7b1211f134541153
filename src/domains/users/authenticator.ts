import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { knownRoles, type Identity } from '../../kernel/identity.ts'
import { SECOND } from '../../kernel/time.ts'
import type { Authenticator, TokenClaims } from '../../ports/authenticator.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { setBounded } from './bounded-map.ts'
import { acceptsToken, type TokenIssue, type User } from './model.ts'
import type { Users } from './service.ts'
import { findUser, shareUser } from './store.ts'

/** What judging a token needs of the rest of the platform. */
export interface AuthenticatorDeps {
  readonly store: { readonly read: Queries }
  readonly clock: Clock
  readonly users: Pick<Users, 'onUserChanged'>
  /** Rejects with `unauthenticated` for a token that is forged or over. */
  readonly tokens: { verify(token: string): Promise<TokenClaims> }
  /** Tokens and users that are remembered at most. */
  readonly limit?: number
}

// contract, Identity: a disabled user's tokens stop within 10 s. A change by this process is known at once; one by
// another process when the user is read again.
const USER_KEPT_MS = 5 * SECOND
const REMEMBERED = 10_000

/**
 * Judges a token that was good a moment ago once more, inside a transaction: until that has ended nobody can change the
 * user. Rejects with `unauthenticated`.
 */
export async function requireTokenHolder(tx: Tx, userId: string, token: TokenIssue): Promise<void> {
  required(await shareUser(tx, userId), token)
}

interface Seen {
  readonly claims: TokenClaims
  readonly identity: Identity
}

export function createAuthenticator(deps: AuthenticatorDeps): Authenticator {
  const { clock, limit = REMEMBERED } = deps
  const seen = new Map<string, Seen>()
  const users = createUserMemory(deps, limit)

  const firstSeen = async (token: string): Promise<Seen> => {
    const claims = await deps.tokens.verify(token)
    const user = required(await users.read(claims.userId), claims)
    const fresh = { claims, identity: identityOf(user, claims) }
    setBounded(seen, token, fresh, limit)
    return fresh
  }

  const known = (token: string): Seen | undefined => {
    const found = seen.get(token)
    if (!found || found.claims.expiresAt > clock.now()) return found
    seen.delete(token)
    return undefined
  }

  /** At once when token and user are remembered: this runs with every request. */
  const admitted = (token: string): Seen | Promise<Seen> => {
    const found = known(token)
    if (!found) return firstSeen(token)
    const { claims } = found
    const kept = users.kept(claims.userId)
    if (!kept) return users.read(claims.userId).then((user) => required(user, claims) && found)
    required(kept.user, claims)
    return found
  }

  return {
    authenticate(token) {
      const holder = admitted(token)
      return holder instanceof Promise ? holder.then(({ identity }) => identity) : holder.identity
    },
    async holder(token) {
      const { claims, identity } = await admitted(token)
      const { generation, issuedAt, expiresAt } = claims
      return { identity, generation, issuedAt, expiresAt }
    },
  }
}

interface Kept {
  readonly user: User | undefined
  readonly readAt: number
}

/** Users as they were a few seconds ago at most, and never older than a change made in this process. */
function createUserMemory({ store, clock, users }: AuthenticatorDeps, limit: number) {
  const byId = new Map<string, Kept>()
  const underWay = new Map<string, Promise<User | undefined>>()

  users.onUserChanged((id) => {
    byId.delete(id)
    underWay.delete(id)
  })

  const read = (id: string): Promise<User | undefined> => {
    const reading = underWay.get(id) ?? begin(id)
    underWay.set(id, reading)
    return reading
  }

  const begin = (id: string): Promise<User | undefined> => {
    const readAt = clock.monotonic()
    const reading = findUser(store.read, id).then(
      (user) => {
        // Changed while it was read: what was read may be from before.
        if (underWay.get(id) !== reading) return read(id)
        underWay.delete(id)
        setBounded(byId, id, { user, readAt }, limit)
        return user
      },
      (error: unknown) => {
        if (underWay.get(id) === reading) underWay.delete(id)
        throw error
      },
    )
    return reading
  }

  return {
    read,
    kept(id: string): Kept | undefined {
      const found = byId.get(id)
      return found && clock.monotonic() - found.readAt < USER_KEPT_MS ? found : undefined
    },
  }
}

/** The user who stands behind a token. */
function required(user: User | undefined, token: TokenIssue): User {
  if (!user || !acceptsToken(user, token)) throw ended()
  return user
}

/** The name comes from the user and not from the token: another program that signs may write anything there. */
function identityOf({ id, name }: User, { roles }: TokenClaims): Identity {
  return { id, name, roles: knownRoles(roles), via: 'token' }
}

function ended(): AppError {
  return new AppError('unauthenticated', 'unauthenticated', 'The token is not valid any more; sign in again.')
}
