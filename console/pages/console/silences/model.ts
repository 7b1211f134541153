import type { LiveEvent } from '../../../api/event-stream.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { call, live } from '../platform.ts'

export type Silence = AnswerOf<'listSilences'>['items'][number]
export type SilenceWithWindows = AnswerOf<'getSilence'>

export const SILENCE_TONES: Readonly<Record<Silence['state'], Tone>> = {
  active: 'active',
  pending: 'quiet',
  ended: 'quiet',
}

const PAGE_LENGTH = 50
const PREFIX = 'silence.'

/** The list of the silences, as the filters of the address say. */
export const silenceList: ListSource<Silence> = {
  filters: [{ name: 'state', kind: 'choice', values: Object.keys(SILENCE_TONES) }],
  live,
  prefix: PREFIX,
  read: (query, signal) => call('listSilences', { query: { ...query, limit: PAGE_LENGTH } }, signal),
  keyOf: ({ id }) => id,
  fromEvent: silenceIn,
}

/** One silence. */
export const silenceResource: ResourceSource<SilenceWithWindows> = {
  live,
  prefix: PREFIX,
  read: (id, signal) => call('getSilence', { path: { id } }, signal),
  isAbout: (event, id) => silenceIn(event)?.id === id,
}

function silenceIn({ data }: LiveEvent): Silence | null {
  return typeof data === 'object' && data !== null && 'matchers' in data ? (data as Silence) : null
}
