import { randomBytes } from 'node:crypto'
import { changesBetween, systemRecord } from '../../kernel/audit.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError, requireFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Role } from '../../kernel/identity.ts'
import type { Logger, LogFields } from '../../kernel/logger.ts'
import type { PageRequest } from '../../kernel/page.ts'
import { Secret } from '../../kernel/secret.ts'
import type { AuditTrail } from '../../ports/audit.ts'
import { END_REASONS } from '../../ports/session-registry.ts'
import type { Queries, Store, Tx } from '../../store/store.ts'
import { countTokens, deleteTokensOf } from './api-tokens/store.ts'
import { readChanges, recordChange, type ChangedUsers } from './change-log.ts'
import {
  FIRST_GENERATION,
  applyChange,
  isActiveAdmin,
  nameKey,
  parseName,
  parseRoles,
  revokeTokens,
  withoutRoles,
  type Account,
  type NewUser,
  type User,
  type UserChange,
} from './model.ts'
import { requireGoodPassword } from './password-rules.ts'
import {
  deleteUser,
  findAccountByName,
  findUser,
  hasEnabledAdmin,
  hasUsers,
  insertUser,
  listUsers,
  lockAccount,
  lockAdmins,
  readIdsByNames,
  readNames,
  updateAccount,
  type UserName,
} from './store.ts'

/** What the user domain needs of the rest of the platform. */
export interface UserDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly passwords: { hash(password: string): Promise<string> }
  /** Left out, nothing is recorded in the audit trail. */
  readonly audit?: AuditTrail
  /** Ends the VPN sessions of a user in the transaction that ends the tokens. */
  readonly sessions: { endOf(tx: Tx, userId: string, reason: string): Promise<void> }
  /** The api of the primary, on a standby: its users are a copy, and every change is refused with `users_mirrored`. */
  readonly primary?: string | undefined
}

/** Called after the commit with the id of a user that this process has created, changed or deleted. */
export type UserListener = (userId: string) => void

/** The hash of a new password; `verifiedHash` is the hash with which the old password was verified. */
export interface PreparedPassword {
  readonly hash: Secret
  readonly verifiedHash?: Secret
}

/** The actor of what the platform does by itself. */
const PLATFORM = 'platform'
const FIRST_ADMIN = 'admin'
// 144 random bits: 24 characters
const FIRST_PASSWORD_BYTES = 18

/** The users and their passwords. A hash takes a tenth of a second, so it is computed before the transaction. */
export class Users {
  readonly #deps: UserDeps
  readonly #listeners = new Set<UserListener>()

  constructor(deps: UserDeps) {
    this.#deps = deps
  }

  /** Prepares a new user for {@link Users.create}. Rejects with `validation_failed`. */
  async prepareAccount({ name, password, roles }: NewUser): Promise<Account> {
    this.requireOwnUsers()
    await requireGoodPassword(password, parseName(name))
    const user = newUser(name, parseRoles(roles), this.#deps.clock.now())
    return { user, passwordHash: await this.#hash(password) }
  }

  /** Rejects with `user_exists`. */
  async create(tx: Tx, account: Account, actor: string): Promise<User> {
    const { user } = account
    this.requireOwnUsers()
    if (!(await insertAccount(tx, account))) throw userExists(user.name)
    await this.#record(tx, user, 'user created', actor)
    return user
  }

  /** Rejects with `user_not_found`. */
  async get(id: string): Promise<User> {
    return requireFound(await this.find(id), 'user', id)
  }

  /** Finds a user; in a transaction `queries` is that transaction. */
  find(id: string, queries: Queries = this.#deps.store.read): Promise<User | undefined> {
    return findUser(queries, id)
  }

  /** Whether there is such a user, enabled or not; in a transaction `queries` is that transaction. */
  async exists(queries: Queries, id: string): Promise<boolean> {
    return (await findUser(queries, id)) !== undefined
  }

  /** Finds a user by name, ignoring case. Rejects with `user_not_found`. */
  async getByName(name: string): Promise<User> {
    return requireFound(await this.findByName(name), 'user', name)
  }

  /** Finds a user by name, ignoring case. */
  async findByName(name: string): Promise<User | undefined> {
    return (await findAccountByName(this.#deps.store.read, nameKey(name)))?.user
  }

  /** Newest first. */
  list(page: PageRequest) {
    return listUsers(this.#deps.store.read, {}, page)
  }

  /** Whether anybody may administer the platform. */
  hasEnabledAdmin(): Promise<boolean> {
    return hasEnabledAdmin(this.#deps.store.read)
  }

  /** The names of those of these ids that are users. */
  names(ids: readonly string[]): Promise<readonly UserName[]> {
    return readNames(this.#deps.store.read, ids)
  }

  /** The ids of those users who have one of these names, ignoring case; also in a transaction. */
  idsByNames(queries: Queries, names: readonly string[]): Promise<readonly string[]> {
    return readIdsByNames(queries, names)
  }

  /** The users that have changed after a revision, in the order of their last changes; all users if it is undefined. */
  changesSince(revision: number | undefined, limit: number): Promise<ChangedUsers> {
    return readChanges(this.#deps.store.read, revision, limit)
  }

  /** Throws `users_mirrored` on a standby. */
  requireOwnUsers(): void {
    if (this.#deps.primary !== undefined) throw usersMirrored(this.#deps.primary)
  }

  /** Disabling and a change of roles end the user's tokens and sessions. Rejects with `user_not_found` or `last_admin`. */
  change(tx: Tx, id: string, change: UserChange, actor: string): Promise<User> {
    return this.#update(tx, id, actor, (user, at) => applyChange(user, change, at))
  }

  /**
   * Removes every role, which only a provider of identities may do: the user can do nothing then. Ends the tokens and
   * sessions. Rejects with `user_not_found` or `last_admin`.
   */
  removeRoles(tx: Tx, id: string, actor: string): Promise<User> {
    return this.#update(tx, id, actor, withoutRoles)
  }

  /** Prepares a new password for {@link Users.setPassword}. Rejects with `user_not_found` or `validation_failed`. */
  async preparePassword(id: string, password: string): Promise<PreparedPassword> {
    this.requireOwnUsers()
    await requireGoodPassword(password, (await this.get(id)).name)
    return { hash: await this.#hash(password) }
  }

  /**
   * Sets a password and ends the user's tokens and sessions. Rejects with `user_not_found`, or with
   * `invalid_credentials` when the password has changed since the old one was checked.
   */
  async setPassword(
    tx: Tx,
    id: string,
    { hash, verifiedHash }: PreparedPassword,
    actor: string,
  ): Promise<{ apiTokens: number }> {
    this.requireOwnUsers()
    const now = this.#deps.clock.now()
    const account = requireFound(await lockAccount(tx, id), 'user', id)
    if (verifiedHash && account.passwordHash.reveal() !== verifiedHash.reveal()) throw invalidCredentials()
    const user = revokeTokens(account.user, now)
    await updateAccount(tx, user, hash)
    await this.#deps.sessions.endOf(tx, id, END_REASONS.password_changed)
    await this.#record(tx, user, 'password changed', actor)
    return { apiTokens: await countTokens(tx, id, now) }
  }

  /** Deletes a user and ends the tokens and sessions. Rejects with `user_not_found` or `last_admin`. */
  async remove(tx: Tx, id: string, actor: string): Promise<void> {
    this.requireOwnUsers()
    const admins = await lockAdmins(tx)
    const { user } = requireFound(await lockAccount(tx, id), 'user', id)
    requireAnotherAdmin(admins, user)
    await deleteUser(tx, id)
    await deleteTokensOf(tx, id)
    await this.#deps.sessions.endOf(tx, id, END_REASONS.user_deleted)
    await this.#record(tx, user, 'user deleted', actor)
  }

  /**
   * Creates the user `admin` with a random password if there is no user at all; otherwise returns undefined. Of several
   * concurrent processes one creates the user.
   */
  async ensureFirstAdmin(): Promise<{ name: string; password: Secret } | undefined> {
    const { store } = this.#deps
    if (await hasUsers(store.read)) return undefined
    const password = randomBytes(FIRST_PASSWORD_BYTES).toString('base64url')
    const account = await this.prepareAccount({ name: FIRST_ADMIN, password, roles: ['admin'] })
    const isCreated = await store.write(async (tx) => {
      if ((await hasUsers(tx)) || !(await insertAccount(tx, account))) return false
      await this.#record(tx, account.user, 'user created', PLATFORM)
      const { id, name, roles } = account.user
      await this.#deps.audit?.record(tx, {
        ...systemRecord('createUser', { kind: 'user', id }),
        changes: changesBetween(undefined, { name, roles }),
      })
      return true
    })
    return isCreated ? { name: FIRST_ADMIN, password: new Secret(password) } : undefined
  }

  /** Returns a function that removes the listener. `listener` must not throw. */
  onUserChanged(listener: UserListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Logs a change and calls the listeners after its commit. */
  announce(tx: Tx, userId: string, event: string, fields: LogFields = {}): void {
    tx.afterCommit(() => {
      this.#deps.logger.info({ user_id: userId, ...fields }, event)
      for (const listener of this.#listeners) listener(userId)
    })
  }

  async #update(tx: Tx, id: string, actor: string, apply: (user: User, at: number) => User): Promise<User> {
    const { clock, sessions } = this.#deps
    this.requireOwnUsers()
    const admins = await lockAdmins(tx)
    const { user, passwordHash } = requireFound(await lockAccount(tx, id), 'user', id)
    const next = apply(user, clock.now())
    if (next === user) return user
    if (!isActiveAdmin(next)) requireAnotherAdmin(admins, user)
    await updateAccount(tx, next, passwordHash)
    if (!next.enabled) await deleteTokensOf(tx, id)
    if (next.tokenGeneration !== user.tokenGeneration)
      await sessions.endOf(tx, id, next.enabled ? END_REASONS.roles_changed : END_REASONS.user_disabled)
    await this.#record(tx, next, 'user changed', actor)
    return next
  }

  async #hash(password: string): Promise<Secret> {
    return new Secret(await this.#deps.passwords.hash(password))
  }

  async #record(tx: Tx, user: User, event: string, actor: string): Promise<void> {
    await recordChange(tx, user)
    this.announce(tx, user.id, event, { actor })
  }
}

/** The error for an unknown name, a wrong password and a disabled user alike. */
export function invalidCredentials(): AppError {
  return new AppError('unauthenticated', 'invalid_credentials', 'The name or the password is wrong.')
}

/** `false` when the name is taken. */
function insertAccount(tx: Tx, { user, passwordHash }: Account): Promise<boolean> {
  return insertUser(tx, { ...user, nameKey: nameKey(user.name), passwordHash })
}

function newUser(name: string, roles: readonly Role[], at: number): User {
  return {
    id: newId(),
    name,
    roles,
    enabled: true,
    createdAt: at,
    updatedAt: at,
    lastLoginAt: null,
    tokenGeneration: FIRST_GENERATION,
    tokensValidFrom: at,
  }
}

/** Rejects a change that would leave no enabled admin. */
function requireAnotherAdmin(admins: readonly string[], user: User): void {
  if (admins.length > 1 || !admins.includes(user.id)) return
  const message = `${user.name} is the last enabled admin; give another user the role admin first.`
  throw new AppError('conflict', 'last_admin', message)
}

/** The error for a change on a standby of this primary. */
export function usersMirrored(primary: string): AppError {
  const message = `The users of a standby are a copy of those of ${primary}; change them there (gateway.mirror_from).`
  return new AppError('conflict', 'users_mirrored', message)
}

function userExists(name: string): AppError {
  const message = `Another user has the name ${JSON.stringify(name)}; names are compared ignoring case.`
  return new AppError('conflict', 'user_exists', message)
}
