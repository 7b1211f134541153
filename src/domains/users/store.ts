import type { Selectable } from 'kysely'
import { knownRoles } from '../../kernel/identity.ts'
import { pageOf, type Page, type PageRequest } from '../../kernel/page.ts'
import { Secret } from '../../kernel/secret.ts'
import { statement } from '../../store/statement.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import { nameKey, type Account, type User } from './model.ts'
import type { UsersTable } from './tables.ts'

type Row = Selectable<UsersTable>
type UserRow = Omit<Row, 'name_key' | 'password_hash'>

/** All of a user but the hash: what need not be read need not be kept out of logs. */
const USER_COLUMNS = [
  'seq',
  'id',
  'name',
  'roles',
  'enabled',
  'token_generation',
  'tokens_valid_from',
  'created_at',
  'updated_at',
  'last_login_at',
] as const

const insert = statement<Omit<Row, 'seq'>>((db, value) =>
  db
    .insertInto('users')
    .values({
      id: value('id'),
      name: value('name'),
      name_key: value('name_key'),
      password_hash: value('password_hash'),
      roles: value('roles'),
      enabled: value('enabled'),
      token_generation: value('token_generation'),
      tokens_valid_from: value('tokens_valid_from'),
      created_at: value('created_at'),
      updated_at: value('updated_at'),
      last_login_at: value('last_login_at'),
    })
    .onConflict((conflict) => conflict.column('name_key').doNothing()),
)

const find = statement<{ id: string }, UserRow>((db, value) =>
  db.selectFrom('users').select(USER_COLUMNS).where('id', '=', value('id')),
)

const findSharing = statement<{ id: string }, UserRow>((db, value) =>
  db.selectFrom('users').select(USER_COLUMNS).where('id', '=', value('id')).forShare(),
)

const findByName = statement<{ name_key: string }, Row>((db, value) =>
  db.selectFrom('users').selectAll().where('name_key', '=', value('name_key')),
)

const update = statement<Omit<Row, 'seq' | 'name' | 'name_key' | 'created_at' | 'last_login_at'>>(
  (db, value) =>
    db
      .updateTable('users')
      .set({
        password_hash: value('password_hash'),
        roles: value('roles'),
        enabled: value('enabled'),
        token_generation: value('token_generation'),
        tokens_valid_from: value('tokens_valid_from'),
        updated_at: value('updated_at'),
      })
      .where('id', '=', value('id')),
)

const login = statement<{ id: string; at: number; verified: string; hash: string }>((db, value) =>
  db
    .updateTable('users')
    .set({ last_login_at: value('at'), password_hash: value('hash') })
    .where('id', '=', value('id'))
    .where('password_hash', '=', value('verified')),
)

/** Answers `false` when a user of that name is there already. */
export async function insertUser(tx: Tx, account: Account): Promise<boolean> {
  return (await tx.change(insert, toRow(account))) === 1
}

export async function findUser(queries: Queries, id: string): Promise<User | undefined> {
  const row = await first(queries, find, { id })
  return row && fromRow(row)
}

/** The user, whom others can read alike, but nobody can change before this transaction has ended. */
export async function shareUser(tx: Tx, id: string): Promise<User | undefined> {
  const row = await first(tx, tx.capabilities.concurrentWriters ? findSharing : find, { id })
  return row && fromRow(row)
}

export async function findAccount(queries: Queries, name: string): Promise<Account | undefined> {
  const row = await first(queries, findByName, { name_key: nameKey(name) })
  return row && toAccount(row)
}

/** Newest first. */
export async function listUsers({ db }: Queries, page: PageRequest): Promise<Page<User>> {
  const rows = await db
    .selectFrom('users')
    .select(USER_COLUMNS)
    .where('seq', '<', page.before)
    .orderBy('seq', 'desc')
    .limit(page.limit + 1)
    .execute()
  return pageOf(rows, page.limit, fromRow)
}

export async function hasUsers({ db }: Queries): Promise<boolean> {
  return (await db.selectFrom('users').select('seq').limit(1).execute()).length > 0
}

/**
 * The ids of all enabled admins, none of whom anybody else can change before this transaction has ended. A
 * transaction that takes several users takes these first, so that two never wait for each other.
 */
export async function lockAdmins({ db, capabilities }: Tx): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where('enabled', '=', 1)
    // `admin` leads the whitelist, and so every list of roles that has it.
    .where('roles', 'like', 'admin%')
    .orderBy('seq')
    .$if(capabilities.concurrentWriters, (query) => query.forUpdate())
    .execute()
  return rows.map(({ id }) => id)
}

/** The account, which nobody else can change before this transaction has ended. */
export async function lockAccount({ db, capabilities }: Tx, id: string): Promise<Account | undefined> {
  const row = await db
    .selectFrom('users')
    .selectAll()
    .where('id', '=', id)
    .$if(capabilities.concurrentWriters, (query) => query.forUpdate())
    .executeTakeFirst()
  return row && toAccount(row)
}

/** Writes all but the name and the last login of an account that {@link lockAccount} has read. */
export async function updateAccount(tx: Tx, account: Account): Promise<void> {
  await tx.run(update, toRow(account))
}

/** Notes a login, and the new hash of the password that was verified, unless it was changed meanwhile. */
export async function recordLogin(
  tx: Tx,
  { user, passwordHash }: Account,
  hash: Secret,
  at: number,
): Promise<void> {
  await tx.run(login, { id: user.id, at, verified: passwordHash.reveal(), hash: hash.reveal() })
}

export async function deleteUser({ db }: Tx, id: string): Promise<void> {
  await db.deleteFrom('users').where('id', '=', id).execute()
}

function toRow({ user, passwordHash }: Account): Omit<Row, 'seq'> {
  return {
    id: user.id,
    name: user.name,
    name_key: nameKey(user.name),
    password_hash: passwordHash.reveal(),
    roles: user.roles.join(','),
    enabled: user.enabled ? 1 : 0,
    token_generation: user.tokenGeneration,
    tokens_valid_from: user.tokensValidFrom,
    created_at: user.createdAt,
    updated_at: user.updatedAt,
    last_login_at: user.lastLoginAt,
  }
}

function toAccount(row: Row): Account {
  return { user: fromRow(row), passwordHash: new Secret(row.password_hash) }
}

function fromRow(row: UserRow): User {
  return {
    id: row.id,
    name: row.name,
    roles: knownRoles(row.roles.split(',')),
    enabled: row.enabled === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastLoginAt: row.last_login_at,
    tokenGeneration: row.token_generation,
    tokensValidFrom: row.tokens_valid_from,
  }
}
