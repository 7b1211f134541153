import type { AnswerOf, ApiResult } from '../../../api/operations.ts'
import type { ListPage } from '../../../parts/list/list-model.ts'
import { readPages } from '../../../parts/list/read-pages.ts'
import type { ListQuery } from '../../../parts/list/list-query.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { call, downloadList, live, session } from '../platform.ts'
import { resourceOf } from '../sources.ts'

export type User = AnswerOf<'getUser'>

export type UserState = 'enabled' | 'disabled'

export const USER_TONES: Readonly<Record<UserState, Tone>> = { enabled: 'good', disabled: 'quiet' }

export function userStateOf({ enabled }: User): UserState {
  return enabled ? 'enabled' : 'disabled'
}

/** Whether the reader is this user. */
export function isOwnAccount({ id }: User): boolean {
  return id === session.bearer.value?.id
}

const PAGE_LENGTH = 50
// Users have no events.
const PREFIX = 'user.'
const EVERY_MS = 30_000

/** The list of the users. */
export const userList: ListSource<User> = {
  filters: [
    { name: 'name', kind: 'text', match: 'part' },
    { name: 'created', kind: 'period' },
  ],
  live,
  prefix: PREFIX,
  read: ({ name, ...query }, signal) =>
    name === undefined
      ? call('listUsers', { query: { ...query, limit: PAGE_LENGTH } }, signal)
      : findUsers(name, query, signal),
  // The API does not search by name.
  csv: ({ name, ...query }) => (name === undefined ? () => downloadList('listUsers', query) : undefined),
  everyMs: EVERY_MS,
  keyOf: ({ id }) => id,
  fromEvent: () => null,
}

// The most that the API answers at once.
const MOST_USERS = 1_000

/** The users whose names contain a text. The API does not search by name, so that all users are read. */
async function findUsers(
  text: string,
  query: ListQuery,
  signal: AbortSignal,
): Promise<ApiResult<ListPage<User>>> {
  const wanted = text.toLowerCase()
  const all = await readPages((from) =>
    call('listUsers', { query: { ...query, ...from, limit: MOST_USERS } }, signal),
  )
  if (!all.ok) return all
  const items = all.value.items.filter(({ name }) => name.toLowerCase().includes(wanted))
  return { ...all, value: { ...all.value, items } }
}

/** One user. */
export const userResource = resourceOf('getUser', PREFIX, (id) => ({ path: { id } }), {
  isAbout: () => false,
})
