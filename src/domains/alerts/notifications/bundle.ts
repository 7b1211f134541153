import { SECOND } from '../../../kernel/time.ts'
import { largest, messageOf, type MessageContent } from './message.ts'
import type { Waiting } from './model.ts'

/** What is raised within this time from one source is sent together (docs/specification.md, Alert notifications). */
export const GATHER_MS = SECOND
const CRITICAL = 6

export interface BundleOptions {
  readonly now: number
  /** How many messages the channel takes at the moment; at least one. */
  readonly tokens: number
  readonly fits: (message: MessageContent) => boolean
}

/**
 * Selects the notifications of the next message from `waiting`, which is sorted oldest first. A group has one source and
 * one second. The message has one group, or, if there are more groups than the channel accepts messages, all of them;
 * what does not fit waits for a later message. Urgent alerts come first. Empty if no group is complete.
 */
export function nextBundle(waiting: readonly Waiting[], options: BundleOptions): readonly Waiting[] {
  const { now, tokens, fits } = options
  const urgent = urgentAlerts(waiting)
  const groups = urgentFirst(completeGroups(waiting, now), (group) =>
    group.some(({ alertId }) => urgent.has(alertId)),
  )
  const [first] = groups
  if (!first) return []
  const chosen = urgentFirst(groups.length > tokens ? groups.flat() : first, ({ alertId }) =>
    urgent.has(alertId),
  )
  const count = largest(chosen.length, (length) => fits(messageOf(chosen.slice(0, length))))
  // One that is too long alone is shortened.
  return chosen.slice(0, Math.max(1, count))
}

/** Alerts that are CRITICAL or have just been; all their notifications come first, in their order. */
function urgentAlerts(waiting: readonly Waiting[]): ReadonlySet<string> {
  return new Set(waiting.filter(({ weight }) => weight === CRITICAL).map(({ alertId }) => alertId))
}

function urgentFirst<T>(items: readonly T[], isUrgent: (item: T) => boolean): T[] {
  return [...items.filter(isUrgent), ...items.filter((item) => !isUrgent(item))]
}

/** The notifications of each source in windows of a second, which begin with a notification. */
function completeGroups(waiting: readonly Waiting[], now: number): Waiting[][] {
  const groups: Waiting[][] = []
  const latest = new Map<string, Waiting[]>()
  for (const notification of waiting) {
    const group = latest.get(notification.source)
    const start = group?.[0]?.at
    if (group && start !== undefined && Math.abs(notification.at - start) < GATHER_MS)
      group.push(notification)
    else {
      const opened = [notification]
      groups.push(opened)
      latest.set(notification.source, opened)
    }
  }
  return groups.filter((group) => isComplete(group, now))
}

/** A group from the future is complete: the clock was set back. */
function isComplete([first]: readonly Waiting[], now: number): boolean {
  return first !== undefined && (now - first.at >= GATHER_MS || first.at > now)
}
