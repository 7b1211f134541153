/** The events of silences (docs/specification.md, Events). */
export const SILENCE_EVENTS = {
  silenceCreated: 'silence.created',
  silenceEnded: 'silence.ended',
} as const
