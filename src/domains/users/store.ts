import type { Secret } from '../../kernel/secret.ts'
import type { NewRowOf } from '../../store/columns.ts'
import { touchedRow } from '../../store/locking.ts'
import type { Queries, TouchedRow, Tx } from '../../store/store.ts'
import { nameKey, type Account, type User } from './model.ts'
import { users, changeRow, changeRows, db, lockable, pages, readRow } from './tables.ts'

// Without the hash, so that it cannot get into a log or a response.
const USER = users.except('seq', 'nameKey', 'passwordHash')
const ACCOUNT = users.except('seq', 'nameKey')

/** `false` when the name is taken. */
export const insertUser = changeRow((on, user: NewRowOf<typeof users>) =>
  on
    .insertInto('users')
    .values(users.values(user))
    .onConflict((conflict) => conflict.column('name_key').doNothing()),
)

/** The user, locked until the end of the transaction; no other transaction can share the lock. */
export const [findUser, lockUser] = lockable(
  (on, id: string) => on.selectFrom('users').select(USER).where('id', '=', id),
  users.decode,
)

/** Finds a user and locks it against changes until the end of the transaction; others can read it and share the lock. */
export const shareUser = readRow(
  (on, id: string) => on.selectFrom('users').select(USER).where('id', '=', id).forShare(),
  users.decode,
)

/** The row that {@link shareUser} and {@link lockUser} lock. */
export function userRow(id: string): TouchedRow {
  return touchedRow('users', id)
}

type StoredAccount = Omit<User, 'roles' | 'enabled'> & {
  roles: string
  enabled: number
  passwordHash: string
}

function toAccount(row: StoredAccount): Account {
  const { passwordHash, ...user } = users.decode(row)
  return { user, passwordHash }
}

export const findAccountByName = readRow(
  (on, nameKey: string) => on.selectFrom('users').select(ACCOUNT).where('name_key', '=', nameKey),
  toAccount,
)

/** Finds an account and locks it until the end of the transaction. */
export const [, lockAccount] = lockable(
  (on, id: string) => on.selectFrom('users').select(ACCOUNT).where('id', '=', id),
  toAccount,
)

/** Writes an account, except the name and the last login; {@link lockAccount} must have locked it. */
export const updateAccount = changeRows((on, user: User, passwordHash: Secret) =>
  on
    .updateTable('users')
    .set({
      ...users.set({ passwordHash }, 'passwordHash'),
      ...users.set(user, 'roles', 'enabled', 'tokenGeneration', 'tokensValidFrom', 'updatedAt'),
    })
    .where('id', '=', user.id),
)

/** Records a login, and the new hash of the verified password, unless the password has changed meanwhile. */
export const recordLogin = changeRows((on, id: string, at: number, verified: Secret, hash: Secret) =>
  on
    .updateTable('users')
    .set({ last_login_at: at, ...users.set({ passwordHash: hash }, 'passwordHash') })
    .where('id', '=', id)
    .where('password_hash', '=', users.set({ passwordHash: verified }, 'passwordHash').password_hash),
)

/** Records a login without a password. */
export const recordSignIn = changeRows((on, id: string, at: number) =>
  on.updateTable('users').set({ last_login_at: at }).where('id', '=', id),
)

export const deleteUser = changeRows((on, id: string) => on.deleteFrom('users').where('id', '=', id))

/** Newest first. */
export const listUsers = pages(
  { table: 'users', createdAt: 'created_at' },
  (on) => on.selectFrom('users').select([...USER, 'seq']),
  {},
  users.decode,
)

export type UserName = Pick<User, 'id' | 'name'>

export async function readNames(queries: Queries, ids: readonly string[]): Promise<UserName[]> {
  if (ids.length === 0) return []
  return db(queries).selectFrom('users').select(['id', 'name']).where('id', 'in', ids).execute()
}

export async function readIdsByNames(queries: Queries, names: readonly string[]): Promise<string[]> {
  const rows = await db(queries)
    .selectFrom('users')
    .select('id')
    .where('name_key', 'in', names.map(nameKey))
    .execute()
  return rows.map(({ id }) => id)
}

export async function hasUsers(queries: Queries): Promise<boolean> {
  return (await db(queries).selectFrom('users').select('seq').limit(1).execute()).length > 0
}

/** Whether anybody may administer the platform. */
export async function hasEnabledAdmin(queries: Queries): Promise<boolean> {
  return (await enabledAdmins(queries).limit(1).execute()).length > 0
}

/**
 * Locks all enabled admins until the end of the transaction; returns their ids. Transactions that lock several users
 * lock these first, which prevents deadlocks.
 */
export async function lockAdmins(tx: Tx): Promise<string[]> {
  const rows = await enabledAdmins(tx).orderBy('seq').forUpdate().execute()
  return rows.map(({ id }) => id)
}

function enabledAdmins(queries: Queries) {
  return (
    db(queries)
      .selectFrom('users')
      .select('id')
      .where('enabled', '=', 1)
      // The stored roles are in the order of ROLES, so `admin` is the first one.
      .where('roles', 'like', 'admin%')
  )
}
