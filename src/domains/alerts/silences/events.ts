import type { AlertTable } from '../../../kernel/declared-alerts.ts'

/** The events of silences (docs/specification.md, Events). */
export const SILENCE_EVENTS = {
  silenceCreated: 'silence.created',
  silenceEnded: 'silence.ended',
} as const

/** The alerts about silences, for `docs/reference/alerts.md`. */
export const SILENCE_ALERTS = {
  'silence.ending:*': {
    severities: ['WARNING'],
    raisedBy: 'A silence that repeats ends for good within a day; `*` is its id.',
    endedBy: 'The silence has ended.',
    whatToDo: 'Create another silence, or repair what it keeps quiet.',
  },
} as const satisfies AlertTable
