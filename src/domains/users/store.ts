import { mapPage, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { NewRowOf } from '../../store/columns.ts'
import { touchedRow } from '../../store/locking.ts'
import type { Queries, TouchedRow, Tx } from '../../store/store.ts'
import { nameKey, type Account, type User } from './model.ts'
import { db, pages, users, readRow, changeRow, changeRows, lockable } from './tables.ts'

// Without the hash, so that it cannot get into a log or a response.
const USER = users.pick(
  'id',
  'name',
  'roles',
  'enabled',
  'tokenGeneration',
  'tokensValidFrom',
  'createdAt',
  'updatedAt',
  'lastLoginAt',
)

/** A row as it is read: roles and enabled are not decoded yet. */
type StoredUser = Omit<User, 'roles' | 'enabled'> & { roles: string; enabled: number }
type StoredAccount = StoredUser & { passwordHash: string }

const insert = changeRow((on, row: NewRowOf<typeof users>) =>
  on
    .insertInto('users')
    .values(users.values(row))
    .onConflict((conflict) => conflict.column('name_key').doNothing()),
)

const findByName = readRow((on, nameKey: string) =>
  on
    .selectFrom('users')
    .select([...USER, 'password_hash as passwordHash'])
    .where('name_key', '=', nameKey),
)

const update = changeRows((on, change: User & { passwordHash: Secret }) =>
  on
    .updateTable('users')
    .set(
      users.set(
        change,
        'passwordHash',
        'roles',
        'enabled',
        'tokenGeneration',
        'tokensValidFrom',
        'updatedAt',
      ),
    )
    .where('id', '=', change.id),
)

const setLoginAndHash = changeRows((on, id: string, at: number, verified: string, hash: string) =>
  on
    .updateTable('users')
    .set({ last_login_at: at, password_hash: hash })
    .where('id', '=', id)
    .where('password_hash', '=', verified),
)

/** `false` when the name is taken. */
export async function insertUser(tx: Tx, { user, passwordHash }: Account): Promise<boolean> {
  return await insert(tx, { ...user, nameKey: nameKey(user.name), passwordHash })
}

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

export async function findAccount(queries: Queries, name: string): Promise<Account | undefined> {
  const row = await findByName(queries, nameKey(name))
  return row && toAccount(row)
}

const pageOfUsers = pages(
  { table: 'users', createdAt: 'created_at' },
  (on) => on.selectFrom('users').select([...USER, 'seq']),
  {},
)

/** Newest first. */
export async function listUsers(queries: Queries, page: PageRequest): Promise<Page<User>> {
  return mapPage(await pageOfUsers(queries, {}, page), users.decode)
}

export type UserName = Pick<User, 'id' | 'name'>

export async function readNames(queries: Queries, ids: readonly string[]): Promise<UserName[]> {
  if (ids.length === 0) return []
  return db(queries).selectFrom('users').select(['id', 'name']).where('id', 'in', ids).execute()
}

export async function readIdsByNames(queries: Queries, given: readonly string[]): Promise<string[]> {
  const rows = await db(queries)
    .selectFrom('users')
    .select('id')
    .where('name_key', 'in', given.map(nameKey))
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

/** Finds an account and locks it until the end of the transaction. */
export async function lockAccount(tx: Tx, id: string): Promise<Account | undefined> {
  const row = await db(tx)
    .selectFrom('users')
    .select([...USER, 'password_hash as passwordHash'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row && toAccount(row)
}

/** Writes an account, except the name and the last login; {@link lockAccount} must have locked it. */
export async function updateAccount(tx: Tx, { user, passwordHash }: Account): Promise<void> {
  await update(tx, { ...user, passwordHash })
}

/** Records a login, and the new hash of the verified password, unless the password has changed meanwhile. */
export async function recordLogin(
  tx: Tx,
  { user, passwordHash }: Account,
  hash: Secret,
  at: number,
): Promise<void> {
  await setLoginAndHash(tx, user.id, at, passwordHash.reveal(), hash.reveal())
}

/** Records a login without a password. */
export const recordSignIn = changeRows((on, id: string, at: number) =>
  on.updateTable('users').set({ last_login_at: at }).where('id', '=', id),
)

export async function deleteUser(tx: Tx, id: string): Promise<void> {
  await db(tx).deleteFrom('users').where('id', '=', id).execute()
}

function toAccount(row: StoredAccount): Account {
  const { passwordHash, ...user } = users.decode(row)
  return { user, passwordHash }
}
