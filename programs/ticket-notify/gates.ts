import type { Ticket } from './tickets.ts'

/** Why something is not told, in the words of the log (spec, rule 5). */
export const REASONS = ['too_old', 'too_old_transition', 'level', 'test', 'budget'] as const
export type Reason = (typeof REASONS)[number]

// spec, Limits: NOTIFY_LEVELS
const NOTIFY_LEVELS: readonly string[] = ['critical', 'high']

// spec, Limits: test-title markers
export const TEST_MARKERS = ['[TK-', '[tk-', 'SELFTEST', 'selftest', '[自测', 'ZZ-', '[TEST', '验收'] as const

/** Something that could be told. */
export interface Occasion {
  readonly kind: 'new' | 'change'
  readonly ticket: Ticket
  readonly now: number
  readonly freshMs: number
  /** How many more notifications this round may send. */
  readonly budgetLeft: number
}

type Gate = (occasion: Occasion) => Reason | undefined

/** A time that cannot be read is no reason to keep silent: it is told once, and then known. */
function freshness({ kind, ticket, now, freshMs }: Occasion): Reason | undefined {
  const at = kind === 'new' ? (ticket.createdAt ?? ticket.updatedAt) : ticket.updatedAt
  const isFresh = at === undefined || now - at <= freshMs
  if (isFresh) return undefined
  return kind === 'new' ? 'too_old' : 'too_old_transition'
}

/** spec, rule 4: a change is told whatever its level. */
const level: Gate = ({ kind, ticket }) =>
  kind === 'change' || NOTIFY_LEVELS.includes(ticket.level) ? undefined : 'level'

const testTitle: Gate = ({ ticket }) =>
  TEST_MARKERS.some((marker) => ticket.wholeTitle.includes(marker)) ? 'test' : undefined

const budget: Gate = ({ budgetLeft }) => (budgetLeft > 0 ? undefined : 'budget')

/** In the order in which they are asked (spec, rule 5). */
const GATES: readonly Gate[] = [freshness, level, testTitle, budget]

/** The first gate that holds the occasion back, or `send`. */
export function judge(occasion: Occasion): Reason | 'send' {
  for (const gate of GATES) {
    const reason = gate(occasion)
    if (reason) return reason
  }
  return 'send'
}
