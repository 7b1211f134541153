import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { Secret } from '../../kernel/secret.ts'
import type { Store } from '../../store/store.ts'
import { createLoginThrottle, type Attempt } from './login-throttle.ts'
import type { Account, User } from './model.ts'
import { invalidCredentials, type Users } from './service.ts'
import { findAccount, recordLogin } from './store.ts'

/** What proving who one is needs of the rest of the platform. */
export interface AuthDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly users: Pick<Users, 'get' | 'getByName' | 'setPassword'>
  readonly passwords: {
    hash(password: string): Promise<string>
    verify(password: string, stored: string): Promise<{ matches: boolean; outdated: boolean }>
    waste(password: string): Promise<void>
  }
  readonly tokens: {
    sign(subject: TokenSubject, ttlMs?: number): Promise<{ token: string; expiresAt: number }>
  }
}

/** Whom a token is for. */
export interface TokenSubject {
  readonly userId: string
  readonly name: string
  readonly roles: readonly string[]
  readonly generation: number
}

export interface Credentials {
  readonly username: string
  readonly password: string
}

/** A token that was issued just now. */
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

export interface Auth {
  /**
   * A token for who knows the password. Rejects with `invalid_credentials`, the same and after the same time whether
   * the name is unknown, the password wrong or the user disabled, or with `rate_limited`. Works while the platform
   * is read-only.
   */
  login(credentials: Credentials, address: string): Promise<IssuedToken>
  /** Like {@link Users.setPassword}, for the user's own; throttled like a login. */
  changeOwnPassword(userId: string, change: PasswordChange, address: string): Promise<void>
  /** A token without a password, for the operator. Rejects with `user_not_found` or `user_disabled`. */
  issueToken(name: string, ttlMs?: number): Promise<IssuedToken>
}

type Outcome = 'succeeded' | 'failed' | 'throttled'

export function createAuth({ store, clock, logger, metrics, users, passwords, tokens }: AuthDeps): Auth {
  const throttle = createLoginThrottle(clock)
  const logins = metrics.counter({
    name: 'logins_total',
    help: 'Checks of a password, by outcome.',
    labels: ['outcome'],
  })

  const told = (outcome: Outcome, account: Account | undefined, address: string) => {
    logins.increment({ outcome })
    // A name that is unknown is not logged: it may be a password that was typed into the wrong field.
    const fields = { user_id: account?.user.id ?? null, remote_address: address }
    if (outcome === 'succeeded') logger.info(fields, 'login succeeded')
    else logger.warn(fields, `login ${outcome}`)
  }

  const begin = (name: string, account: Account | undefined, address: string): Attempt => {
    try {
      return throttle.begin(name, address)
    } catch (error) {
      told('throttled', account, address)
      throw error
    }
  }

  /** One derivation, whoever is asked for. */
  const check = async (account: Account | undefined, password: string) => {
    if (account) return passwords.verify(password, account.passwordHash.reveal())
    await passwords.waste(password)
    return { matches: false, outdated: false }
  }

  const prove = async (name: string, password: string, address: string) => {
    const account = await findAccount(store.read, name)
    const attempt = begin(name, account, address)
    const { matches, outdated } = await check(account, password).catch((error: unknown) => {
      attempt.withdrawn()
      throw error
    })
    if (!account?.user.enabled || !matches) {
      told('failed', account, address)
      throw invalidCredentials()
    }
    attempt.succeeded()
    told('succeeded', account, address)
    return { account, outdated }
  }

  const issue = async (user: User, ttlMs?: number): Promise<IssuedToken> => {
    const { id: userId, name, roles, tokenGeneration: generation } = user
    const { token, expiresAt } = await tokens.sign({ userId, name, roles, generation }, ttlMs)
    const expiresInSeconds = Math.floor((expiresAt - clock.now()) / 1_000)
    return { token: new Secret(token), expiresAt, expiresInSeconds, user }
  }

  const noteLogin = async (account: Account, newHash: Secret): Promise<User> => {
    const at = clock.now()
    try {
      await store.write((tx) => recordLogin(tx, account, newHash, at))
      return { ...account.user, lastLoginAt: at }
    } catch (error) {
      if (isReadOnly(error)) return account.user
      throw error
    }
  }

  return {
    async login({ username, password }, address) {
      const { account, outdated } = await prove(username, password, address)
      const hash = outdated ? new Secret(await passwords.hash(password)) : account.passwordHash
      return issue(await noteLogin(account, hash))
    },

    async changeOwnPassword(userId, { oldPassword, password }, address) {
      const { name } = await users.get(userId)
      const { account } = await prove(name, oldPassword, address)
      await users.setPassword(userId, password, account.passwordHash)
    },

    async issueToken(name, ttlMs) {
      const user = await users.getByName(name)
      if (!user.enabled)
        throw new AppError('conflict', 'user_disabled', `${user.name} is disabled and gets no token.`)
      return issue(user, ttlMs)
    },
  }
}

function isReadOnly(error: unknown): boolean {
  return error instanceof AppError && error.code === 'read_only'
}
