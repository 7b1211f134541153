import { CLOCK_DIFFERENCE_MS, isDueAt, MINUTE } from '../../../kernel/time.ts'
import type { AlertWeight } from '../model.ts'
import { notificationTime, type AlertRoute } from './routing.ts'
import type { Episode } from './store.ts'

/** While the alert is silenced, inhibited, frozen or quiet, what is due waits and is looked at again after so long. */
const SUPPRESSED_MS = MINUTE

/** When the receivers of a route are first notified of an alert: now, or when the hours of the route begin. */
interface EpisodeStart {
  readonly alertId: string
  readonly route: AlertRoute
  readonly startedAt: number
  readonly now: number
}

/** The episode of a route after a notification of its receivers; the first notification counts. */
export function withStart(before: Episode | undefined, start: EpisodeStart): Episode {
  return before && before.startedAt <= start.startedAt ? before : newEpisode(start)
}

function newEpisode({ alertId, route, startedAt, now }: EpisodeStart): Episode {
  const { escalate, repeatEveryMs } = route
  const episode = withDue({
    alertId,
    route: String(route.name),
    startedAt,
    step: 0,
    escalateAt: dueOf(escalate[0]?.afterMs, startedAt),
    repeatAt: dueOf(repeatEveryMs, startedAt),
  })
  // An episode that begins with the hours is also looked at earlier: only a clock that was set back has written a due time
  // further away.
  const lookAt = now + Math.max(repeatEveryMs ?? 0, escalate.at(-1)?.afterMs ?? 0)
  return episode.dueAt === null ? episode : { ...episode, dueAt: Math.min(episode.dueAt, lookAt) }
}

/** Whether a route makes something due. */
export function isFollowed({ repeatEveryMs, escalate }: AlertRoute): boolean {
  return repeatEveryMs !== undefined || escalate.length > 0
}

export interface RouteEpisode {
  readonly route: AlertRoute
  readonly episode: Episode
}

/**
 * The episodes of the routes that decide about an alert now. After a change of the configuration or the alert one without an
 * episode goes on where the others have stopped: people have waited for an acknowledgement since the first notification.
 */
export function currentEpisodes(known: readonly Episode[], routes: readonly AlertRoute[]): RouteEpisode[] {
  const [first] = staleEpisodes(known, routes)
    .filter(({ dueAt }) => dueAt !== null)
    .toSorted((one, other) => one.startedAt - other.startedAt)
  return routes.flatMap((route) => {
    const episode = known.find((each) => each.route === String(route.name))
    if (episode) return [{ route, episode }]
    const now = first?.startedAt
    return first && now !== undefined && isFollowed(route)
      ? [{ route, episode: newEpisode({ ...first, route, now }) }]
      : []
  })
}

/** The episodes of routes that do not decide about the alert any more. */
export function staleEpisodes(known: readonly Episode[], routes: readonly AlertRoute[]): readonly Episode[] {
  const names = new Set(routes.map(({ name }) => String(name)))
  return known.filter(({ route }) => !names.has(route))
}

/** The due step of an episode, and the episode after it. */
export interface DueStep {
  readonly episode: Episode
  /** The receivers of the steps that are due. */
  readonly escalated: readonly string[]
  readonly isRepeated: boolean
}

/**
 * Judges an episode at a time; a due time of a clock that was set back counts as due. Before the beginning of the hours in which
 * the route notifies, nothing is due.
 */
export function judgeEpisode(
  episode: Episode,
  route: AlertRoute,
  now: number,
  isSuppressed: boolean,
  weight: AlertWeight,
): DueStep {
  const { alertId, startedAt, step } = episode
  if (step === 0 && startedAt > now + CLOCK_DIFFERENCE_MS) {
    const opensAt = notificationTime(route, weight, now)
    const waiting = newEpisode({ alertId, route, startedAt: opensAt, now })
    if (opensAt > now) return { episode: waiting, escalated: [], isRepeated: false }
  }
  const { escalate, repeatEveryMs = 0 } = route
  const steps = escalate.slice(episode.step)
  const isDue = (at: number | null, longestMs: number) => at !== null && isDueAt(at, now, longestMs)
  const isEscalating = isDue(episode.escalateAt, escalate.at(-1)?.afterMs ?? 0)
  const isRepeating = isDue(episode.repeatAt, repeatEveryMs)
  if (isSuppressed) {
    const later = now + SUPPRESSED_MS
    const held = withDue({
      ...episode,
      ...(isEscalating && { escalateAt: later }),
      ...(isRepeating && { repeatAt: later }),
    })
    return { episode: held, escalated: [], isRepeated: false }
  }
  const done = isEscalating
    ? Math.max(1, steps.filter(({ afterMs }) => episode.startedAt + afterMs <= now).length)
    : 0
  const next = escalate[episode.step + done]
  const after = {
    ...episode,
    step: Math.min(escalate.length, episode.step + done),
    ...(isEscalating && {
      escalateAt: next ? Math.max(now, Math.min(episode.startedAt, now) + next.afterMs) : null,
    }),
    ...(isRepeating && { repeatAt: repeatEveryMs > 0 ? now + repeatEveryMs : null }),
  }
  const escalated = steps.slice(0, done).flatMap(({ receivers }) => receivers)
  return {
    episode: withDue(after),
    escalated: [...new Set(escalated)],
    isRepeated: isRepeating && repeatEveryMs > 0,
  }
}

function dueOf(pauseMs: number | undefined, from: number): number | null {
  return pauseMs === undefined ? null : from + pauseMs
}

function withDue(episode: Omit<Episode, 'dueAt'>): Episode {
  const times = [episode.escalateAt, episode.repeatAt].filter((at) => at !== null)
  return { ...episode, dueAt: times.length > 0 ? Math.min(...times) : null }
}
