import { eventObject } from '../../../api/event-stream.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { listOf, resourceOf } from '../sources.ts'

export type Silence = AnswerOf<'listSilences'>['items'][number]
export type SilenceWithWindows = AnswerOf<'getSilence'>

export const SILENCE_TONES: Readonly<Record<Silence['state'], Tone>> = {
  active: 'active',
  pending: 'quiet',
  ended: 'quiet',
}

const PREFIX = 'silence.'

const silenceIn = eventObject('Silence')

/** The list of the silences, as the filters of the address say. */
export const silenceList = listOf('listSilences', PREFIX, {
  filters: [{ name: 'state', kind: 'choice', values: Object.keys(SILENCE_TONES) }],
  keyOf: ({ id }) => id,
  fromEvent: silenceIn,
})

/** One silence. */
export const silenceResource = resourceOf('getSilence', PREFIX, (id) => ({ path: { id } }), {
  isAbout: (event, id) => silenceIn(event)?.id === id,
})
