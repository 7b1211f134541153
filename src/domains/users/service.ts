import { randomBytes } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import { AppError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Role } from '../../kernel/identity.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { Secret } from '../../kernel/secret.ts'
import type { Store, Tx } from '../../store/store.ts'
import {
  changed,
  isActiveAdmin,
  parseName,
  parseRoles,
  withoutTokens,
  type Account,
  type NewUser,
  type User,
  type UserChange,
} from './model.ts'
import { requireGoodPassword } from './password-rules.ts'
import {
  deleteUser,
  findAccount,
  findUser,
  hasUsers,
  insertUser,
  listUsers,
  lockAccount,
  lockAdmins,
  updateAccount,
} from './store.ts'

/** What the user domain needs of the rest of the platform. */
export interface UserDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly passwords: { hash(password: string): Promise<string> }
  /** Ends what a user's tokens have opened, in the transaction that ends the tokens. */
  readonly sessions?: { endOf(tx: Tx, userId: string, reason: string): Promise<void> }
}

/** Calls back with the id of a user who was changed or removed in this process, after the commit. */
export type UserListener = (userId: string) => void

export interface Users {
  /** Rejects with `user_exists` or `validation_failed`. */
  create(wanted: NewUser): Promise<User>
  /** Rejects with `user_not_found`. */
  get(id: string): Promise<User>
  find(id: string): Promise<User | undefined>
  /** Without regard to case. Rejects with `user_not_found`. */
  getByName(name: string): Promise<User>
  /** Newest first. */
  list(page: PageRequest): Promise<Page<User>>
  /** Disabling and a change of roles end the user's tokens and sessions. Rejects with `user_not_found` or `last_admin`. */
  change(id: string, change: UserChange): Promise<User>
  /**
   * Ends the user's tokens and sessions. With `proven`, the hash that the old password was checked against, it rejects with
   * `invalid_credentials` when another password was set since. Rejects with `user_not_found` or `validation_failed`.
   */
  setPassword(id: string, password: string, proven?: Secret): Promise<void>
  /** Rejects with `user_not_found` or `last_admin`. */
  remove(id: string): Promise<void>
  /**
   * Makes the user `admin` when there is no user at all, with a password that is told only here; undefined when
   * there was one. Several processes may do so at once: one of them makes the user.
   */
  ensureFirstAdmin(): Promise<{ name: string; password: Secret } | undefined>
  /** The function returned stops it. `listener` must not throw. */
  onUserChanged(listener: UserListener): () => void
}

const FIRST_ADMIN = 'admin'
// 144 random bits: 24 characters
const FIRST_PASSWORD_BYTES = 18

export function createUserService({ store, clock, logger, passwords, sessions }: UserDeps): Users {
  const listeners = new Set<UserListener>()

  const told = (tx: Tx, userId: string, event: string) =>
    tx.afterCommit(() => {
      logger.info({ user_id: userId }, event)
      for (const listener of listeners) listener(userId)
    })

  const newAccount = async (name: string, roles: readonly Role[], password: string): Promise<Account> => ({
    user: newUser(name, roles, clock.now()),
    passwordHash: new Secret(await passwords.hash(password)),
  })

  return {
    async create({ name, password, roles }) {
      requireGoodPassword(password, parseName(name))
      // Hashing takes a tenth of a second: never inside the transaction.
      const account = await newAccount(name, parseRoles(roles), password)
      return store.write(async (tx) => {
        if (!(await insertUser(tx, account))) throw userExists(name)
        told(tx, account.user.id, 'user created')
        return account.user
      })
    },

    get: async (id) => existing(await findUser(store.read, id), id),

    find: (id) => findUser(store.read, id),

    getByName: async (name) => existing(await findAccount(store.read, name), name).user,

    list: (page) => listUsers(store.read, page),

    change: (id, change) =>
      store.write(async (tx) => {
        const admins = await lockAdmins(tx)
        const { user, passwordHash } = existing(await lockAccount(tx, id), id)
        const next = changed(user, change, clock.now())
        if (next === user) return user
        if (!isActiveAdmin(next)) requireAnotherAdmin(admins, user)
        await updateAccount(tx, { user: next, passwordHash })
        if (next.tokenGeneration !== user.tokenGeneration) await sessions?.endOf(tx, id, changeReason(next))
        told(tx, id, 'user changed')
        return next
      }),

    async setPassword(id, password, proven) {
      requireGoodPassword(password, existing(await findUser(store.read, id), id).name)
      const passwordHash = new Secret(await passwords.hash(password))
      await store.write(async (tx) => {
        const account = existing(await lockAccount(tx, id), id)
        if (proven && account.passwordHash.reveal() !== proven.reveal()) throw invalidCredentials()
        await updateAccount(tx, { user: withoutTokens(account.user, clock.now()), passwordHash })
        await sessions?.endOf(tx, id, 'the password was changed')
        told(tx, id, 'password changed')
      })
    },

    remove: (id) =>
      store.write(async (tx) => {
        const admins = await lockAdmins(tx)
        const { user } = existing(await lockAccount(tx, id), id)
        requireAnotherAdmin(admins, user)
        await deleteUser(tx, id)
        await sessions?.endOf(tx, id, 'the user was deleted')
        told(tx, id, 'user deleted')
      }),

    async ensureFirstAdmin() {
      if (await hasUsers(store.read)) return undefined
      const password = randomBytes(FIRST_PASSWORD_BYTES).toString('base64url')
      const account = await newAccount(FIRST_ADMIN, ['admin'], password)
      const made = await store.write(async (tx) => {
        if ((await hasUsers(tx)) || !(await insertUser(tx, account))) return false
        told(tx, account.user.id, 'user created')
        return true
      })
      return made ? { name: FIRST_ADMIN, password: new Secret(password) } : undefined
    },

    onUserChanged(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** The one answer to a wrong name, a wrong password and a disabled user. */
export function invalidCredentials(): AppError {
  return new AppError('unauthenticated', 'invalid_credentials', 'The name or the password is wrong.')
}

/** Why a change has ended the tokens. */
function changeReason({ enabled }: User): string {
  return enabled ? 'the roles of the user were changed' : 'the user was disabled'
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
    tokenGeneration: 1,
    tokensValidFrom: at,
  }
}

function existing<T>(found: T | undefined, idOrName: string): T {
  if (!found) throw notFound('user', idOrName)
  return found
}

/** What the user was about to lose must be somebody else's too. */
function requireAnotherAdmin(admins: readonly string[], user: User): void {
  if (admins.length > 1 || !admins.includes(user.id)) return
  throw new AppError(
    'conflict',
    'last_admin',
    `${user.name} is the last enabled admin; make another user an admin before this one stops being one.`,
  )
}

function userExists(name: string): AppError {
  return new AppError(
    'conflict',
    'user_exists',
    `There is a user ${JSON.stringify(name)} already; case does not count.`,
  )
}
