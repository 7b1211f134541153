import type { Clock } from '../../../kernel/clock.ts'
import { AppError, invalidField, notFound, requireFound } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import { knownRoles, type Identity, type Role } from '../../../kernel/identity.ts'
import type { Logger } from '../../../kernel/logger.ts'
import { mapPage, type Page, type PageRequest } from '../../../kernel/page.ts'
import { Secret } from '../../../kernel/secret.ts'
import { MINUTE } from '../../../kernel/time.ts'
import { END_REASONS } from '../../../ports/session-registry.ts'
import type { Queries, Store, Tx } from '../../../store/store.ts'
import type { User } from '../model.ts'
import type { Users } from '../service.ts'
import { requireLiveToken } from '../ended-tokens.ts'
import { shareUser } from '../store.ts'
import {
  DEFAULT_LIFETIME_MS,
  KEPT_MS,
  MAX_TOKENS,
  rolesOfToken,
  type ApiToken,
  type NewApiToken,
} from './model.ts'
import {
  countTokens,
  deleteExpiredTokens,
  deleteToken,
  findToken,
  insertToken,
  listTokens,
  readToken,
  touchToken,
} from './store.ts'
import { hashToken, newTokenText } from './token-text.ts'

export interface ApiTokenDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly users: Pick<Users, 'requireOwnUsers' | 'get' | 'announce'>
  /** Ends the VPN sessions of a token in the transaction that revokes it. */
  readonly sessions: { endOfToken(tx: Tx, tokenId: string, reason: string): Promise<void> }
}

/** A token as its owner sees it: with the roles that it has now. */
export interface TokenView extends Omit<ApiToken, 'roles'> {
  readonly roles: readonly Role[]
}

/** A new token with its text, which nobody can read again. */
export interface CreatedToken extends TokenView {
  readonly token: Secret
}

/** Records at most one use of a token in this time. */
const USE_EVERY_MS = MINUTE

/** Tokens for programs (docs/specification.md, API tokens). */
export class ApiTokens {
  readonly #deps: ApiTokenDeps
  /** When a use of a token was last recorded by this process, by its id. */
  readonly #recorded = new Map<string, number>()

  constructor(deps: ApiTokenDeps) {
    this.#deps = deps
  }

  /**
   * Creates a token for a user. A token makes none that may do more, or longer, than itself. Rejects with `user_not_found`,
   * `user_disabled`, `validation_failed` for a role that the user does not have, `forbidden` for one that the caller's own
   * token lacks, and `too_many_tokens`.
   */
  async create(tx: Tx, userId: string, wanted: NewApiToken, by: Identity): Promise<CreatedToken> {
    const { clock, users } = this.#deps
    users.requireOwnUsers()
    if (by.token) await requireLiveToken(tx, by.token)
    const user = requireFound(await shareUser(tx, userId), 'user', userId)
    if (!user.enabled) {
      const message = `${user.name} is disabled; enable the user first.`
      throw new AppError('conflict', 'user_disabled', message)
    }
    const now = clock.now()
    const roles = wanted.roles ? knownRoles(wanted.roles) : null
    requireOwnRoles(roles, user)
    const limit = limitOf(by, rolesOfToken({ roles }, user))
    await deleteExpiredTokens(tx, userId, now - KEPT_MS)
    if ((await countTokens(tx, userId, now)) >= MAX_TOKENS) throw tooManyTokens(user.name)
    const lifetimeMs = wanted.expiresInMs ?? DEFAULT_LIFETIME_MS
    const token: ApiToken = {
      id: newId(),
      userId,
      name: wanted.name,
      // The token of a limited one stays as it is when its user gets further roles.
      roles: roles ?? (by.token?.kind === 'api' ? user.roles : null),
      createdAt: now,
      expiresAt: Math.min(now + lifetimeMs, limit),
      lastUsedAt: null,
      lastUsedFrom: null,
    }
    const text = newTokenText()
    await insertToken(tx, { ...token, hash: hashToken(text) })
    this.#log(tx, 'API token created', token, by.id)
    return { ...tokenViewOf(token, user), token: new Secret(text) }
  }

  /** The tokens of a user, newest first. Rejects with `user_not_found`. */
  async list(userId: string, page: PageRequest): Promise<Page<TokenView>> {
    const { store, users } = this.#deps
    // A cursor of another list is refused for any user.
    const tokens = await listTokens(store.read, { userId }, page)
    const user = await users.get(userId)
    return mapPage(tokens, (token) => tokenViewOf(token, user))
  }

  /** Revokes a token and ends its VPN sessions. Rejects with `token_not_found`. */
  async revoke(tx: Tx, userId: string, id: string, actor: string): Promise<void> {
    const { users, sessions } = this.#deps
    users.requireOwnUsers()
    const token = await readToken(tx, id)
    if (!token || !(await deleteToken(tx, userId, id))) throw notFound('token', id)
    await sessions.endOfToken(tx, id, END_REASONS.token_revoked)
    this.#log(tx, 'API token revoked', token, actor)
  }

  /** What the audit trail says of a token. */
  async stateOf(queries: Queries, id: string): Promise<object | undefined> {
    const token = await readToken(queries, id)
    return token && { id, name: token.name, roles: token.roles }
  }

  /** The token with this hash, whatever its user is now. */
  find(hash: string): Promise<ApiToken | undefined> {
    return findToken(this.#deps.store.read, hash)
  }

  /** Records that a token was used, at most once a minute. Never rejects, and nobody has to wait for it. */
  async recordUse(id: string, from: string): Promise<void> {
    const { store, clock, logger } = this.#deps
    const now = clock.now()
    const last = this.#recorded.get(id)
    // After the clock was set back `last` is in the future.
    if (last !== undefined && Math.abs(now - last) < USE_EVERY_MS) return
    if (this.#recorded.size >= MAX_RECORDED) this.#recorded.clear()
    this.#recorded.set(id, now)
    try {
      await store.write((tx) => touchToken(tx, id, now, from, now - USE_EVERY_MS))
    } catch (error) {
      logger.debug({ token_id: id, error }, 'the use of an API token was not recorded')
    }
  }

  #log(tx: Tx, event: string, { id, userId, name }: ApiToken, actor: string): void {
    // Also forgets what this process has cached of the user.
    this.#deps.users.announce(tx, userId, event, { token_id: id, name, actor })
  }
}

// More are forgotten, and recorded again a little early.
const MAX_RECORDED = 10_000

function tokenViewOf(token: ApiToken, user: User): TokenView {
  return { ...token, roles: rolesOfToken(token, user) }
}

function requireOwnRoles(roles: readonly Role[] | null, user: User): void {
  if (roles?.some((role) => !user.roles.includes(role)))
    throw invalidField('roles', 'none_of_list', { allowed: user.roles })
}

function tooManyTokens(name: string): AppError {
  const message = `${name} has ${MAX_TOKENS} tokens already; delete one that is not used any more.`
  return new AppError('conflict', 'too_many_tokens', message)
}

/** Until when a new token may be valid that the caller makes: without end, unless it comes with an API token itself. */
function limitOf({ token, roles: callerRoles }: Identity, roles: readonly Role[]): number {
  if (token?.kind !== 'api') return Number.POSITIVE_INFINITY
  const beyond = callerRoles.includes('admin') ? [] : roles.filter((role) => !callerRoles.includes(role))
  if (beyond.length === 0) return token.expiresAt
  const message = `A token that lacks ${beyond.join(', ')} makes none that has it.`
  throw new AppError('forbidden', 'forbidden', message)
}
