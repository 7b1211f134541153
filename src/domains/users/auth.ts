import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Identity, TokenPurpose } from '../../kernel/identity.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import { Secret } from '../../kernel/secret.ts'
import { signInRecord } from '../../kernel/audit.ts'
import type { AuditTrail } from '../../ports/audit.ts'
import type { TokenIssuer, TokenSubject } from '../../ports/authentication.ts'
import { END_REASONS } from '../../ports/session-registry.ts'
import type { Store, Tx } from '../../store/store.ts'
import { endToken, type EndedTokens } from './ended-tokens.ts'
import { createLoginThrottle, type Attempt, type LoginThrottle } from './login-throttle.ts'
import { nameKey, type Account, type User } from './model.ts'
import { invalidCredentials, type PreparedPassword, type Users } from './service.ts'
import { findAccountByName, lockUser, recordLogin, recordSignIn } from './store.ts'

/** What authentication needs of the rest of the platform. */
export interface AuthDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly users: Pick<Users, 'get' | 'getByName' | 'preparePassword'>
  readonly passwords: {
    hash(password: string): Promise<string>
    verify(password: string, stored: string): Promise<{ matches: boolean; outdated: boolean }>
    waste(password: string): Promise<void>
  }
  readonly tokens: TokenIssuer
  /** Left out, nothing is recorded in the audit trail. */
  readonly audit?: AuditTrail
  readonly ended: Pick<EndedTokens, 'add'>
  /** Ends the VPN sessions of a token in the transaction that ends it. */
  readonly sessions: { endOfToken(tx: Tx, tokenId: string, reason: string): Promise<void> }
}

export interface Credentials {
  readonly username: string
  readonly password: string
}

/** A newly issued token with its user. */
export interface IssuedToken {
  readonly token: Secret
  /** Epoch milliseconds. */
  readonly expiresAt: number
  readonly expiresInSeconds: number
  readonly user: User
}

export interface PasswordChange {
  readonly oldPassword: string
  readonly password: string
}

/** The request that carries a password. */
export interface Origin {
  readonly remoteAddress: string
  readonly requestId: string
}

const OUTCOMES = ['succeeded', 'failed', 'throttled'] as const
type Outcome = (typeof OUTCOMES)[number]

interface TokenKind extends Pick<TokenSubject, 'purpose' | 'method'> {
  readonly ttlMs?: number | undefined
}

/** Authentication with passwords, and the issuing of tokens. */
export class Auth {
  readonly #deps: AuthDeps
  readonly #throttle: LoginThrottle
  readonly #logins: Counter

  constructor(deps: AuthDeps) {
    this.#deps = deps
    this.#throttle = createLoginThrottle(deps.clock)
    this.#logins = deps.metrics.counter({
      name: 'logins_total',
      help: 'Checks of a password, by outcome.',
      labels: { outcome: OUTCOMES },
    })
  }

  /**
   * Issues a token for a name and a password. Rejects with `rate_limited`, or with `invalid_credentials`: the error and
   * its timing are the same for an unknown name, a wrong password and a disabled user. Works while the platform is
   * read-only; only the time of the login is not recorded then.
   */
  async login({ username, password }: Credentials, origin: Origin): Promise<IssuedToken> {
    const { account, outdated } = await this.#verifyCredentials(username, password, origin, 'signIn')
    const hash = outdated ? new Secret(await this.#deps.passwords.hash(password)) : account.passwordHash
    return this.#issue(await this.#recordLogin(account, hash, origin))
  }

  /** Prepares a password as {@link Users.preparePassword} does, but checks the old one first, throttled as a login is. */
  async prepareOwnPassword(
    userId: string,
    { oldPassword, password }: PasswordChange,
    origin: Origin,
  ): Promise<PreparedPassword> {
    const { users } = this.#deps
    const { name } = await users.get(userId)
    const { account } = await this.#verifyCredentials(name, oldPassword, origin, 'setPassword')
    return { ...(await users.preparePassword(userId, password)), verifiedHash: account.passwordHash }
  }

  /**
   * Issues a token for a user who has signed in elsewhere, and records the time; undefined when the user does not exist
   * or is disabled, or the user's tokens have another generation by now.
   */
  async issueAfterSignIn(tx: Tx, userId: string, generation: number): Promise<IssuedToken | undefined> {
    const user = await lockUser(tx, userId)
    if (!user?.enabled || user.tokenGeneration !== generation) return undefined
    const lastLoginAt = this.#deps.clock.now()
    await recordSignIn(tx, userId, lastLoginAt)
    return this.#issue({ ...user, lastLoginAt }, { method: 'oidc' })
  }

  /** Issues a token without a password, for the operator. Rejects with `user_not_found` or `user_disabled`. */
  async issueToken(name: string, ttlMs?: number, purpose?: TokenPurpose): Promise<IssuedToken> {
    const user = await this.#deps.users.getByName(name)
    if (!user.enabled)
      throw new AppError('conflict', 'user_disabled', `${user.name} is disabled; enable the user first.`)
    return this.#issue(user, { ttlMs, purpose })
  }

  /** Ends the token of a login and its VPN sessions. Rejects with `not_a_session` for any other caller. */
  async logout(tx: Tx, { id: userId, token }: Identity): Promise<void> {
    if (token?.kind !== 'session') throw notASession()
    // A session that opens with the token meanwhile is closed, or refused.
    await lockUser(tx, userId)
    const ended = { tokenId: token.id, endedAt: this.#deps.clock.now(), expiresAt: token.expiresAt }
    await endToken(tx, ended)
    await this.#deps.sessions.endOfToken(tx, token.id, END_REASONS.signed_out)
    tx.afterCommit(() => {
      this.#deps.ended.add(ended)
      this.#deps.logger.info({ user_id: userId }, 'signed out')
    })
  }

  async #verifyCredentials(
    name: string,
    password: string,
    origin: Origin,
    operation: string,
  ): Promise<{ account: Account; outdated: boolean }> {
    const account = await findAccountByName(this.#deps.store.read, nameKey(name))
    const attempt = await this.#begin(name, account, origin, operation)
    const { matches, outdated } = await this.#check(account, password).catch((error: unknown) => {
      attempt.cancel()
      throw error
    })
    if (!account?.user.enabled || !matches) {
      await this.#refuse('failed', account, origin, operation)
      throw invalidCredentials()
    }
    attempt.succeed()
    this.#record('succeeded', account, origin)
    return { account, outdated }
  }

  async #begin(
    name: string,
    account: Account | undefined,
    origin: Origin,
    operation: string,
  ): Promise<Attempt> {
    try {
      return this.#throttle.begin(name, origin.remoteAddress, account?.user.tokenGeneration)
    } catch (error) {
      await this.#refuse('throttled', account, origin, operation)
      throw error
    }
  }

  async #refuse(
    outcome: 'failed' | 'throttled',
    account: Account | undefined,
    origin: Origin,
    operation: string,
  ): Promise<void> {
    this.#record(outcome, account, origin)
    await this.#deps.audit?.note(signInRecord(account?.user, origin, 'refused', operation))
  }

  /** Derives one key in every case, so that the duration does not reveal whether the name exists. */
  async #check(account: Account | undefined, password: string) {
    const { passwords } = this.#deps
    if (account) return passwords.verify(password, account.passwordHash.reveal())
    await passwords.waste(password)
    return { matches: false, outdated: false }
  }

  #issue(user: User, { ttlMs, ...kind }: TokenKind = {}): IssuedToken {
    const { id: userId, name, roles, tokenGeneration: generation } = user
    const { token, expiresAt } = this.#deps.tokens.sign({ userId, name, roles, generation, ...kind }, ttlMs)
    // The issue of a token is a whole second, so this is its lifetime.
    const expiresInSeconds = Math.ceil((expiresAt - this.#deps.clock.now()) / 1_000)
    return { token: new Secret(token), expiresAt, expiresInSeconds, user }
  }

  async #recordLogin({ user, passwordHash }: Account, newHash: Secret, origin: Origin): Promise<User> {
    const { store, clock, audit } = this.#deps
    const at = clock.now()
    try {
      await store.write(async (tx) => {
        await recordLogin(tx, user.id, at, passwordHash, newHash)
        await audit?.record(tx, signInRecord(user, origin, 'done'))
      })
      return { ...user, lastLoginAt: at }
    } catch (error) {
      if (error instanceof AppError && error.code === 'read_only') return user
      throw error
    }
  }

  #record(outcome: Outcome, account: Account | undefined, origin: Origin): void {
    this.#logins.increment({ outcome })
    // An unknown name is not logged: it may be a password that was typed into the wrong field.
    const fields = {
      user_id: account?.user.id ?? null,
      remote_address: origin.remoteAddress,
      request_id: origin.requestId,
    }
    if (outcome === 'succeeded') this.#deps.logger.info(fields, 'login succeeded')
    else this.#deps.logger.warn(fields, `login ${outcome}`)
  }
}

function notASession(): AppError {
  const message =
    'Only the token of a login can be ended so; an API token is revoked with DELETE /users/{id}/tokens/{token_id}.'
  return new AppError('conflict', 'not_a_session', message)
}
