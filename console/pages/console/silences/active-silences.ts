import type { AnswerOf } from '../../../api/operations.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live, session } from '../platform.ts'
import { pathOf } from '../view.ts'
import type { Silence } from './model.ts'

// The most that the API answers at once.
const MOST_SILENCES = 1_000
const NONE = { ok: true, value: { items: [], next_cursor: null }, etag: null } as const

/** The silences that are active now; none for a user who may not read them. */
export const activeSilences: ResourceSource<AnswerOf<'listSilences'>> = {
  live,
  prefix: 'silence.',
  read: async (_, signal) =>
    session.may('listSilences')
      ? call('listSilences', { query: { state: 'active', limit: MOST_SILENCES } }, signal)
      : NONE,
}

/** The address of an active silence in the list of the active ones, which has it on its first pages. */
export function activeSilenceAddress({ id }: Silence): string {
  return `${pathOf('silences', id)}?state=active`
}
