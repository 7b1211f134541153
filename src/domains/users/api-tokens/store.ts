import type { NewRowOf } from '../../../store/columns.ts'
import { touchedRow } from '../../../store/locking.ts'
import type { Queries, TouchedRow } from '../../../store/store.ts'
import { apiTokens, changeRow, changeRows, pages, readRow } from '../tables.ts'

// Without the hash, so that it cannot get into a log or a response.
const TOKEN = apiTokens.except('seq', 'hash')

export const insertToken = changeRows((on, token: NewRowOf<typeof apiTokens>) =>
  on.insertInto('api_tokens').values(apiTokens.values(token)),
)

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

/** Finds a token; until the end of the transaction nobody can revoke it. */
export const shareToken = readRow((on, id: string) =>
  on.selectFrom('api_tokens').select('id').where('id', '=', id).forShare(),
)

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

const countValid = readRow((on, userId: string, after: number) =>
  on
    .selectFrom('api_tokens')
    .select((row) => row.fn.countAll<number>().as('tokens'))
    .where('user_id', '=', userId)
    .where('expires_at', '>', after),
)

/** How many tokens of a user are valid after that time. */
export async function countTokens(queries: Queries, userId: string, after: number): Promise<number> {
  return (await countValid(queries, userId, after))?.tokens ?? 0
}

/** Newest first. */
export const listTokens = pages(
  { table: 'api_tokens', createdAt: 'created_at' },
  (on) => on.selectFrom('api_tokens').select([...TOKEN, 'seq']),
  { userId: (query, userId: string) => query.where('user_id', '=', userId) },
  apiTokens.decode,
)

/** Records a use unless one was recorded after `before`. */
export const touchToken = changeRows((on, id: string, at: number, from: string, before: number) =>
  on
    .updateTable('api_tokens')
    .set({ last_used_at: at, last_used_from: from })
    .where('id', '=', id)
    .where((row) => row.or([row('last_used_at', 'is', null), row('last_used_at', '<=', before)])),
)
