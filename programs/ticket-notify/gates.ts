import type { Ticket } from './tickets.ts'

/** Why a notification is suppressed; the keys of `suppressed` in the log (docs/specification.md, Ticket notifier). */
export const REASONS = ['too_old', 'too_old_transition', 'level', 'test', 'budget'] as const
export type Reason = (typeof REASONS)[number]

/** The levels of which new tickets are notified, the lower one first. */
const NOTIFY_LEVELS: readonly string[] = ['high', 'critical']

/** The rank of a level among those that are notified: larger is more severe, 0 is not notified. */
export const notifyRank = (level: string): number => NOTIFY_LEVELS.indexOf(level) + 1

export const TEST_MARKERS = ['[TK-', '[tk-', 'SELFTEST', 'selftest', '[自测', 'ZZ-', '[TEST', '验收'] as const

/** A new or changed ticket for which a notification may be sent. */
export interface Candidate {
  readonly kind: 'new' | 'change'
  /** Whether the level of a known ticket has risen. */
  readonly isRise?: boolean
  readonly ticket: Ticket
  readonly now: number
  readonly freshMs: number
  /** How many more notifications this round may send. */
  readonly budgetLeft: number
}

type Gate = (candidate: Candidate) => Reason | undefined

/** A time that cannot be parsed suppresses nothing. */
function freshness({ kind, isRise = false, ticket, now, freshMs }: Candidate): Reason | undefined {
  const at = kind === 'new' && !isRise ? (ticket.createdAt ?? ticket.updatedAt) : ticket.updatedAt
  if (at === undefined || now - at <= freshMs) return undefined
  return kind === 'new' ? 'too_old' : 'too_old_transition'
}

/** The level of a changed ticket does not matter. */
const level: Gate = ({ kind, ticket }) =>
  kind === 'change' || notifyRank(ticket.level) > 0 ? undefined : 'level'

const testTitle: Gate = ({ ticket }) =>
  TEST_MARKERS.some((marker) => ticket.fullTitle.includes(marker)) ? 'test' : undefined

const budget: Gate = ({ budgetLeft }) => (budgetLeft > 0 ? undefined : 'budget')

/** In the order in which they apply. */
const GATES: readonly Gate[] = [freshness, level, testTitle, budget]

/** The reason of the first gate that suppresses the notification, or `send`. */
export function applyGates(candidate: Candidate): Reason | 'send' {
  for (const gate of GATES) {
    const reason = gate(candidate)
    if (reason) return reason
  }
  return 'send'
}
