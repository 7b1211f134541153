import type { Clock } from '../../../kernel/clock.ts'
import { runBatches, type Job } from '../../../kernel/job.ts'
import { CLOCK_DIFFERENCE_MS, isDueAt, SECOND } from '../../../kernel/time.ts'
import type { Store, Tx } from '../../../store/store.ts'
import type { Alert } from '../model.ts'
import { lockAlert } from '../store.ts'
import { QUIET_MS } from './damping.ts'
import { judgeEpisode } from './episodes.ts'
import type { Notifier } from './notifier.ts'
import { longestPause, matchedRoutes, type AlertRoute, type Routing } from './routing.ts'
import {
  deleteDamping,
  deleteEpisodes,
  findDamping,
  listDueAlertIds,
  listEpisodes,
  saveEpisode,
  type Episode,
} from './store.ts'

const CHECK_EVERY_MS = SECOND
// Small batches let other writes run in between.
const BATCH = 50

export interface DueTellingDeps {
  readonly store: Store
  readonly clock: Clock
  readonly routing: Routing
  readonly notifier: Notifier
}

/** Escalations, repetitions and digests whose time has come; what is due is kept in the database. */
export function dueTellingJob(deps: DueTellingDeps): Job {
  const { routing } = deps
  const isNeeded = routing.isDamping || longestPause(routing) > 0
  return {
    name: 'alert-escalation',
    everyMs: CHECK_EVERY_MS,
    async run(signal) {
      if (isNeeded) await runBatches(signal, async () => (await tellDue(deps, signal)) >= BATCH)
    },
  }
}

/** One batch; returns how many alerts were due. */
async function tellDue(deps: DueTellingDeps, signal: AbortSignal): Promise<number> {
  const { clock, routing, store } = deps
  const now = clock.now()
  const farAfter = (pauseMs: number) => now + pauseMs + CLOCK_DIFFERENCE_MS
  const episodes = { now, far: farAfter(longestPause(routing)), limit: BATCH }
  const dampings = { now, far: farAfter(QUIET_MS), limit: BATCH }
  const due = [
    ...(await listDueAlertIds(store.read, 'alert_episodes', episodes)).map((id) => [id, follow] as const),
    ...(await listDueAlertIds(store.read, 'alert_dampings', dampings)).map((id) => [id, endQuiet] as const),
  ]
  for (const [id, change] of due) {
    if (signal.aborted) break
    await store.write(async (tx) => {
      const alert = await lockAlert(tx, id)
      // Its rows are gone with it.
      if (alert) await change(deps, tx, alert)
    })
  }
  return signal.aborted ? 0 : due.length
}

async function follow({ clock, notifier, routing }: DueTellingDeps, tx: Tx, alert: Alert): Promise<void> {
  if (alert.weight === 0 || alert.status === 'acknowledged') return deleteEpisodes(tx, alert.id)
  const routes = new Map(matchedRoutes(alert, routing).map((route) => [String(route.name), route]))
  const isSuppressed = await notifier.isSuppressed(tx, alert)
  for (const episode of await listEpisodes(tx, alert.id)) {
    const route = routes.get(episode.route)
    // The configuration or the alert has changed: another route decides about it.
    if (!route) await saveEpisode(tx, { ...episode, escalateAt: null, repeatAt: null, dueAt: null })
    else await followRoute({ notifier, tx, alert }, episode, { route, now: clock.now(), isSuppressed })
  }
}

async function followRoute(
  { notifier, tx, alert }: { readonly notifier: Notifier; readonly tx: Tx; readonly alert: Alert },
  episode: Episode,
  { route, ...when }: { readonly route: AlertRoute; readonly now: number; readonly isSuppressed: boolean },
): Promise<void> {
  const { episode: after, escalated, isRepeated } = judgeEpisode(episode, route, when)
  await saveEpisode(tx, after)
  const step = escalated.map((receiver) => ({ receiver, route }))
  if (step.length > 0) await notifier.tellAgain(tx, 'escalated', alert, step)
  if (isRepeated) await notifier.tellAgain(tx, 'repeated', alert, [])
}

/** Ends the quiet of an alert that has not changed for a while, with one digest. */
async function endQuiet({ clock, notifier }: DueTellingDeps, tx: Tx, alert: Alert): Promise<void> {
  const damping = await findDamping(tx, alert.id)
  if (!damping || damping.dueAt === null || !isDueAt(damping.dueAt, clock.now(), QUIET_MS)) return
  await deleteDamping(tx, alert.id)
  await notifier.notify(tx, { kind: 'undamped', changes: damping.changes }, alert)
}
