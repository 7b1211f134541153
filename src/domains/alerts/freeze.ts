import { HOUR } from '../../kernel/time.ts'
import type { Alert, Freeze, Swing } from './model.ts'

/** An alert is frozen until an hour has passed without a swing (docs/specification.md, Alerts). */
export const FREEZE_MS = HOUR
const WINDOW_MS = HOUR
const SWINGS_TO_FREEZE = 4

/**
 * Whether a change of the weight is a swing: a direct change between recovered and CRITICAL. The first CRITICAL report of
 * an alert is not a swing.
 */
export function isSwing(before: Alert, after: Alert): boolean {
  if (before.weight === 6) return after.weight === 0
  return before.weight === 0 && after.weight === 6 && before.wasCritical
}

/** The swings of the last hour and a new one. A swing that is exactly an hour old does not count. */
export function addSwing({ swings, reports }: Alert, at: number): readonly Swing[] {
  // One report less: the one that led to the state before the swing is a part of the freeze.
  const swing = { at, reportsBefore: Math.max(reports - 1, 0) }
  return [...swings.filter((each) => each.at > at - WINDOW_MS), swing]
}

/** The freeze that these swings of the last hour cause; undefined if there are too few. */
export function freezeFor(swings: readonly Swing[], at: number): Freeze | undefined {
  const [earliest] = swings
  if (!earliest || swings.length < SWINGS_TO_FREEZE) return undefined
  return { until: at + FREEZE_MS, swings: swings.length, reportsBefore: earliest.reportsBefore }
}

/** The freeze after one more swing. */
export function prolong(freeze: Freeze, at: number): Freeze {
  return { ...freeze, until: at + FREEZE_MS, swings: freeze.swings + 1 }
}
