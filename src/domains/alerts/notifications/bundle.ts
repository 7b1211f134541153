import { SECOND } from '../../../kernel/time.ts'
import { largest, type MessageContent } from './message.ts'
import type { WaitingNotification } from './model.ts'

/** What is raised within this time from one source is sent together (docs/specification.md, Alert notifications). */
export const GATHER_MS = SECOND

export interface BundleOptions {
  readonly now: number
  /** How many messages the channel takes at the moment; at least one. */
  readonly tokens: number
  readonly fits: (message: MessageContent) => boolean
  readonly render: (notifications: readonly WaitingNotification[]) => MessageContent
}

/**
 * Selects the notifications of the next message from `waiting`, which is sorted oldest first. A group has one source and
 * one second. The message has one group, or, if there are more groups than the channel accepts messages, all of them;
 * what does not fit waits for a later message. The most severe alerts come first. Empty if no group is complete.
 */
export function nextBundle(
  waiting: readonly WaitingNotification[],
  { now, tokens, ...options }: BundleOptions,
): readonly WaitingNotification[] {
  const weights = weightsOf(waiting)
  const weightOf = ({ alertId }: WaitingNotification) => weights.get(alertId) ?? 0
  const groups = heaviestFirst(completeGroups(waiting, now), (group) => Math.max(...group.map(weightOf)))
  const [first] = groups
  if (!first) return []
  const chosen = heaviestFirst(groups.length > tokens ? groups.flat() : first, weightOf)
  return fittingPart(chosen, options)
}

/** As many of the notifications as fit into a message. One that is too long alone is shortened later. */
export function fittingPart(
  notifications: readonly WaitingNotification[],
  { fits, render }: Pick<BundleOptions, 'fits' | 'render'>,
): readonly WaitingNotification[] {
  const count = largest(notifications.length, (length) => fits(render(notifications.slice(0, length))))
  return notifications.slice(0, Math.max(1, count))
}

/** The highest weight of each alert: its notifications stay together, in their order. */
function weightsOf(waiting: readonly WaitingNotification[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const { alertId, weight } of waiting) weights.set(alertId, Math.max(weight, weights.get(alertId) ?? 0))
  return weights
}

function heaviestFirst<T>(items: readonly T[], weightOf: (item: T) => number): T[] {
  return items.toSorted((one, other) => weightOf(other) - weightOf(one))
}

/** The notifications of each source in windows of a second, which begin with a notification. */
function completeGroups(waiting: readonly WaitingNotification[], now: number): WaitingNotification[][] {
  // Notifications that have waited for the same hours are one digest, whatever their sources.
  const digest = waiting.filter(({ dueAt }) => dueAt !== null)
  const groups: WaitingNotification[][] = []
  const latest = new Map<string, WaitingNotification[]>()
  for (const notification of waiting) {
    if (notification.dueAt !== null) continue
    const group = latest.get(notification.source)
    const start = group?.[0]?.at
    // After the clock was set back the group begins in the future.
    if (group && start !== undefined && Math.abs(notification.at - start) < GATHER_MS)
      group.push(notification)
    else {
      const opened = [notification]
      groups.push(opened)
      latest.set(notification.source, opened)
    }
  }
  const complete = groups.filter((group) => isComplete(group, now))
  return digest.length > 0 ? [...complete, digest] : complete
}

/** A group from the future is complete: the clock was set back. */
function isComplete([first]: readonly WaitingNotification[], now: number): boolean {
  return first !== undefined && (now - first.at >= GATHER_MS || first.at > now)
}
