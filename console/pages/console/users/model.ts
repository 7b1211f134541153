import type { AnswerOf } from '../../../api/operations.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { call, live } from '../platform.ts'

export type User = AnswerOf<'getUser'>

export type UserState = 'enabled' | 'disabled'

export const USER_TONES: Readonly<Record<UserState, Tone>> = { enabled: 'good', disabled: 'quiet' }

export function userStateOf({ enabled }: User): UserState {
  return enabled ? 'enabled' : 'disabled'
}

const PAGE_LENGTH = 50
// Users have no events.
const PREFIX = 'user.'

/** The list of the users. */
export const userList: ListSource<User> = {
  filters: [
    { name: 'created_from', kind: 'time' },
    { name: 'created_to', kind: 'time' },
  ],
  live,
  prefix: PREFIX,
  read: (query, signal) => call('listUsers', { query: { ...query, limit: PAGE_LENGTH } }, signal),
  keyOf: ({ id }) => id,
  fromEvent: () => null,
}

/** One user. */
export const userResource: ResourceSource<User> = {
  live,
  prefix: PREFIX,
  read: (id, signal) => call('getUser', { path: { id } }, signal),
  isAbout: () => false,
}
