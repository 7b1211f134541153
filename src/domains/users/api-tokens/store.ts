import { mapPage, type Page, type PageRequest } from '../../../kernel/page.ts'
import { lockRows, touchedRow } from '../../../store/locking.ts'
import { first, type Queries, type TouchedRow, type Tx } from '../../../store/store.ts'
import { apiTokens, pages, statement } from '../tables.ts'
import type { ApiToken } from './model.ts'

// Without the hash, so that it cannot get into a log or a response.
const TOKEN = apiTokens.pick(
  'id',
  'userId',
  'name',
  'roles',
  'createdAt',
  'expiresAt',
  'lastUsedAt',
  'lastUsedFrom',
)

/** A row as it is read: the roles are not decoded yet. */
type StoredToken = Omit<ApiToken, 'roles'> & { roles: string | null }

const insert = statement<ApiToken & { hash: string }>((on, value) =>
  on.insertInto('api_tokens').values(apiTokens.values(value)),
)

const find = statement<{ hash: string }, StoredToken>((on, value) =>
  on.selectFrom('api_tokens').select(TOKEN).where('hash', '=', value('hash')),
)

const share = statement<{ id: string }, { id: string }>((on, value, capabilities) =>
  on
    .selectFrom('api_tokens')
    .select('id')
    .where('id', '=', value('id'))
    .$call(lockRows(capabilities, { share: true })),
)

const findById = statement<{ id: string }, StoredToken>((on, value) =>
  on.selectFrom('api_tokens').select(TOKEN).where('id', '=', value('id')),
)

const remove = statement<{ id: string; userId: string }>((on, value) =>
  on.deleteFrom('api_tokens').where('id', '=', value('id')).where('user_id', '=', value('userId')),
)

const removeOfUser = statement<{ userId: string }>((on, value) =>
  on.deleteFrom('api_tokens').where('user_id', '=', value('userId')),
)

const removeExpired = statement<{ userId: string; before: number }>((on, value) =>
  on
    .deleteFrom('api_tokens')
    .where('user_id', '=', value('userId'))
    .where('expires_at', '<', value('before')),
)

const count = statement<{ userId: string; after: number }, { tokens: number }>((on, value) =>
  on
    .selectFrom('api_tokens')
    .select((row) => row.fn.countAll<number>().as('tokens'))
    .where('user_id', '=', value('userId'))
    .where('expires_at', '>', value('after')),
)

const touch = statement<{ id: string; at: number; from: string; before: number }>((on, value) =>
  on
    .updateTable('api_tokens')
    .set({ last_used_at: value('at'), last_used_from: value('from') })
    .where('id', '=', value('id'))
    .where((row) => row.or([row('last_used_at', 'is', null), row('last_used_at', '<=', value('before'))])),
)

const pageOfTokens = pages(
  { table: 'api_tokens', createdAt: 'created_at' },
  (on) => on.selectFrom('api_tokens').select([...TOKEN, 'seq']),
  { userId: (query, userId: string) => query.where('user_id', '=', userId) },
)

export async function insertToken(tx: Tx, token: ApiToken, hash: string): Promise<void> {
  await tx.change(insert, { ...token, hash })
}

export async function findToken(queries: Queries, hash: string): Promise<ApiToken | undefined> {
  const row = await first(queries, find, { hash })
  return row && apiTokens.decode(row)
}

export async function readToken(queries: Queries, id: string): Promise<ApiToken | undefined> {
  const row = await first(queries, findById, { id })
  return row && apiTokens.decode(row)
}

/** The row that {@link shareToken} locks. */
export function apiTokenRow(id: string): TouchedRow {
  return touchedRow('api_tokens', id)
}

/** Whether the token exists; until the end of the transaction nobody can revoke it. */
export async function shareToken(tx: Tx, id: string): Promise<boolean> {
  return (await first(tx, share, { id })) !== undefined
}

/** `false` when the user has no such token. */
export async function deleteToken(tx: Tx, userId: string, id: string): Promise<boolean> {
  return (await tx.change(remove, { id, userId })) === 1
}

/** Deletes the tokens of a user; returns how many. */
export function deleteTokensOf(tx: Tx, userId: string): Promise<number> {
  return tx.change(removeOfUser, { userId })
}

export async function deleteExpiredTokens(tx: Tx, userId: string, before: number): Promise<void> {
  await tx.change(removeExpired, { userId, before })
}

/** How many tokens of a user are valid after that time. */
export async function countTokens(queries: Queries, userId: string, after: number): Promise<number> {
  return (await first(queries, count, { userId, after }))?.tokens ?? 0
}

/** Newest first. */
export async function listTokens(
  queries: Queries,
  userId: string,
  page: PageRequest,
): Promise<Page<ApiToken>> {
  return mapPage(await pageOfTokens(queries, { userId }, page), apiTokens.decode)
}

/** Records a use unless one was recorded after `before`. */
export async function touchToken(
  tx: Tx,
  use: { readonly id: string; readonly at: number; readonly from: string; readonly before: number },
): Promise<void> {
  await tx.change(touch, use)
}
