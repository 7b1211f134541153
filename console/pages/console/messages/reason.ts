/** Why a message cannot be delivered, as far as the console has words for it. */
export type PlainReason = 'tooLarge' | 'headersTooLarge' | 'notPermitted' | 'noStream' | 'badSubject'

// What the platform, the NATS server and its client write.
const REASONS: readonly (readonly [RegExp, PlainReason])[] = [
  [/\(10097\)/, 'headersTooLarge'],
  [/\(10054\)|payload.*exceed|exceed.*payload|max_payload/i, 'tooLarge'],
  [/permissions? violation/i, 'notPermitted'],
  [/^no stream acknowledges /, 'noStream'],
  [/subject/i, 'badSubject'],
]

export function plainReason(error: string): PlainReason | undefined {
  return REASONS.find(([pattern]) => pattern.test(error))?.[1]
}
