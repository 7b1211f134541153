import { HOUR, MINUTE } from '../../../kernel/time.ts'
import type { OccasionKind } from './model.ts'
import { CRITICAL_WEIGHT, type AlertWeight } from '../model.ts'

// docs/specification.md, Alert notifications
const MOST_NOTIFICATIONS = 6
const WINDOW_MS = HOUR
/** How long a quiet alert must not change until its digest. */
export const QUIET_MS = 30 * MINUTE

/** How often people were notified of an alert, whichever receivers. */
export interface Damping {
  /** The times of the notifications within the last hour, oldest first. */
  readonly tellings: readonly number[]
  /** The highest weight of them. */
  readonly weight: AlertWeight
  /** Since when it is quiet; null unless it is. */
  readonly quietSince: number | null
  /** How often it has changed: the notifications, and the changes since it is quiet. */
  readonly changes: number
  /** When its digest is due; null unless it is quiet. */
  readonly dueAt: number | null
}

export const UNDAMPED: Damping = { tellings: [], weight: 0, quietSince: null, changes: 0, dueAt: null }

const CHANGES: ReadonlySet<OccasionKind> = new Set(['raised', 'risen', 'recovered'])
/** Occasions that do not count: the alert itself has not changed, or another rule limits them. */
const NOT_COUNTED: ReadonlySet<OccasionKind> = new Set(['repeated', 'escalated', 'frozen', 'unfrozen'])
/** Occasions that are never held back: the alert becomes quiet or frozen, or no longer is. */
const NEVER_HELD: ReadonlySet<OccasionKind> = new Set(['frozen', 'unfrozen', 'damped', 'undamped'])

/**
 * What happens to an occasion of a frequently notified alert: `notify` notifies as usual, `notify_last` notifies a last
 * time before the alert is quiet, `hold` holds back.
 */
export type DampingStep = 'notify' | 'notify_last' | 'hold'

/** Whether an occasion of a quiet alert is held back; one that makes it CRITICAL for the first time is not. */
export function isHolding(
  { quietSince, weight }: Damping,
  kind: OccasionKind,
  current: AlertWeight,
): boolean {
  return (
    quietSince !== null && !NEVER_HELD.has(kind) && !(current === CRITICAL_WEIGHT && weight < CRITICAL_WEIGHT)
  )
}

/** Judges an occasion. */
export function dampen(
  before: Damping,
  kind: OccasionKind,
  weight: AlertWeight,
  at: number,
  isNotified: boolean,
): { readonly step: DampingStep; readonly damping: Damping } {
  const isHeld = isHolding(before, kind, weight)
  const step = isHeld ? 'hold' : 'notify'
  if (NOT_COUNTED.has(kind)) return { step, damping: before }
  if (before.quietSince !== null) {
    const changes = before.changes + (CHANGES.has(kind) ? 1 : 0)
    const dueAt = CHANGES.has(kind) ? at + QUIET_MS : before.dueAt
    return { step, damping: { ...before, changes, dueAt, weight: isHeld ? before.weight : weight } }
  }
  if (!isNotified) return { step: 'notify', damping: before }
  // After the clock was set back the times are in the future.
  const recent = before.tellings.filter((each) => Math.abs(at - each) < WINDOW_MS)
  const highest = recent.length > 0 && before.weight > weight ? before.weight : weight
  const counted = { ...UNDAMPED, tellings: [...recent, at], weight: highest }
  if (recent.length < MOST_NOTIFICATIONS) return { step: 'notify', damping: counted }
  const quiet = { quietSince: at, changes: counted.tellings.length, dueAt: at + QUIET_MS }
  return { step: 'notify_last', damping: { ...counted, ...quiet } }
}
