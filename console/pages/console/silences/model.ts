import type { LiveEvent } from '../../../api/event-stream.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { call, live } from '../platform.ts'

export type Silence = AnswerOf<'listSilences'>['items'][number]

export const SILENCE_TONES: Readonly<Record<Silence['state'], Tone>> = {
  active: 'active',
  pending: 'quiet',
  ended: 'quiet',
}

const PAGE_LENGTH = 50

/** The list of the silences, as the filters of the address say. */
export const silenceList: ListSource<Silence> = {
  filters: [{ name: 'state', kind: 'choice', values: Object.keys(SILENCE_TONES) }],
  live,
  prefix: 'silence.',
  read: (query, signal) => call('listSilences', { query: { ...query, limit: PAGE_LENGTH } }, signal),
  keyOf: ({ id }) => id,
  fromEvent: silenceIn,
}

function silenceIn({ data }: LiveEvent): Silence | null {
  return typeof data === 'object' && data !== null && 'matchers' in data ? (data as Silence) : null
}
