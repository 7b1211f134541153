import { computed, signal } from '@preact/signals'
import type { PollNews } from '../../api/poll.ts'
import { readBearer } from '../../api/token.ts'
import { toGraph } from './graph.ts'
import { judgeSessions, type Health } from './health.ts'
import { filterSessions, findSelection, sortSessions, type Sorting } from './table.ts'
import type { TunnelState } from './tunnel-state.ts'

/** Why the gateway refused the token: of one that it had accepted before, and of a new one. */
export type SignOutReason = 'ended' | 'refused'

/** What the page knows and what its reader has chosen; the parts of the page read it and nothing else. */
export type TunnelsModel = ReturnType<typeof createTunnelsModel>

export function createTunnelsModel(token: string | null) {
  const signals = {
    token: signal(token),
    /** Why the sign-in form is shown; null if the reader has asked for it. */
    notice: signal<SignOutReason | null>(null),
    news: signal<PollNews<TunnelState> | null>(null),
    /** The last state that the gateway has answered. */
    state: signal<TunnelState | null>(null),
    words: signal(''),
    healths: signal<ReadonlySet<Health>>(new Set()),
    sorting: signal<Sorting>({ column: 'user', descending: false }),
    /** Keys of nodes of the picture. */
    selected: signal<string | null>(null),
    pointed: signal<string | null>(null),
  }
  const sessions = computed(() => (signals.state.value ? judgeSessions(signals.state.value) : []))
  /** The sessions that match the filter. */
  const filtered = computed(() =>
    filterSessions(sessions.value, { words: signals.words.value, healths: signals.healths.value }),
  )
  const graph = computed(() => toGraph(signals.state.value?.gateways ?? [], filtered.value))
  const selection = computed(() =>
    signals.selected.value === null ? undefined : findSelection(graph.value, signals.selected.value),
  )
  return {
    ...signals,
    bearer: computed(() => (signals.token.value === null ? null : readBearer(signals.token.value))),
    sessions,
    filtered,
    graph,
    selection,
    /** Rows of the table: the filtered sessions of the selected node, sorted. */
    rows: computed(() => sortSessions(selection.value?.sessions ?? filtered.value, signals.sorting.value)),
  }
}
