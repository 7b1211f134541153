import { mapPage, type Page, type PageRequest } from '../../../kernel/page.ts'
import { touchedRow } from '../../../store/locking.ts'
import type { Queries, TouchedRow, Tx } from '../../../store/store.ts'
import { apiTokens, pages, readRow, changeRow, changeRows } from '../tables.ts'
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

const insert = changeRows((on, change: ApiToken & { hash: string }) =>
  on.insertInto('api_tokens').values(apiTokens.values(change)),
)

const share = readRow((on, id: string) =>
  on.selectFrom('api_tokens').select('id').where('id', '=', id).forShare(),
)

const count = readRow((on, userId: string, after: number) =>
  on
    .selectFrom('api_tokens')
    .select((row) => row.fn.countAll<number>().as('tokens'))
    .where('user_id', '=', userId)
    .where('expires_at', '>', after),
)

const pageOfTokens = pages(
  { table: 'api_tokens', createdAt: 'created_at' },
  (on) => on.selectFrom('api_tokens').select([...TOKEN, 'seq']),
  { userId: (query, userId: string) => query.where('user_id', '=', userId) },
)

export async function insertToken(tx: Tx, token: ApiToken, hash: string): Promise<void> {
  await insert(tx, { ...token, hash })
}

export const findToken = readRow(
  (on, hash: string) => on.selectFrom('api_tokens').select(TOKEN).where('hash', '=', hash),
  apiTokens.decode,
)

export const readToken = readRow(
  (on, id: string) => on.selectFrom('api_tokens').select(TOKEN).where('id', '=', id),
  apiTokens.decode,
)

/** The row that {@link shareToken} locks. */
export function apiTokenRow(id: string): TouchedRow {
  return touchedRow('api_tokens', id)
}

/** Whether the token exists; until the end of the transaction nobody can revoke it. */
export async function shareToken(tx: Tx, id: string): Promise<boolean> {
  return (await share(tx, id)) !== undefined
}

/** `false` when the user has no such token. */
export const deleteToken = changeRow((on, userId: string, id: string) =>
  on.deleteFrom('api_tokens').where('id', '=', id).where('user_id', '=', userId),
)

/** Deletes the tokens of a user; returns how many. */
export const deleteTokensOf = changeRows((on, userId: string) =>
  on.deleteFrom('api_tokens').where('user_id', '=', userId),
)

export const deleteExpiredTokens = changeRows((on, userId: string, before: number) =>
  on.deleteFrom('api_tokens').where('user_id', '=', userId).where('expires_at', '<', before),
)

/** How many tokens of a user are valid after that time. */
export async function countTokens(queries: Queries, userId: string, after: number): Promise<number> {
  return (await count(queries, userId, after))?.tokens ?? 0
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
export const touchToken = changeRows(
  (on, use: { readonly id: string; readonly at: number; readonly from: string; readonly before: number }) =>
    on
      .updateTable('api_tokens')
      .set({ last_used_at: use.at, last_used_from: use.from })
      .where('id', '=', use.id)
      .where((row) => row.or([row('last_used_at', 'is', null), row('last_used_at', '<=', use.before)])),
)
