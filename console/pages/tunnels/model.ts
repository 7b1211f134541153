import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { PollNews } from '../../api/poll.ts'
import { readBearer, type Bearer } from '../../api/token.ts'
import { toGraph, type GatewayNode } from './graph.ts'
import { judgeSessions, type Health, type JudgedSession } from './health.ts'
import { filterSessions, findSelection, sortSessions, type Selection, type Sorting } from './table.ts'
import type { TunnelState } from './tunnel-state.ts'

/** Why the gateway refused the token: of one that it had accepted before, and of a new one. */
export type SignOutReason = 'ended' | 'refused'

/** What the page knows and what its reader has chosen; the parts of the page read it and nothing else. */
export interface TunnelsModel {
  readonly token: Signal<string | null>
  /** Why the sign-in form is shown; null if the reader has asked for it. */
  readonly notice: Signal<SignOutReason | null>
  readonly news: Signal<PollNews<TunnelState> | null>
  /** The last that was answered. */
  readonly state: Signal<TunnelState | null>
  readonly words: Signal<string>
  readonly healths: Signal<ReadonlySet<Health>>
  readonly sorting: Signal<Sorting>
  /** Keys of nodes of the picture. */
  readonly selected: Signal<string | null>
  readonly pointed: Signal<string | null>

  readonly bearer: ReadonlySignal<Bearer | null>
  readonly sessions: ReadonlySignal<readonly JudgedSession[]>
  /** The sessions that match the filter. */
  readonly shown: ReadonlySignal<readonly JudgedSession[]>
  readonly graph: ReadonlySignal<readonly GatewayNode[]>
  readonly selection: ReadonlySignal<Selection | undefined>
  /** Rows of the table: the shown sessions of the selected node, sorted. */
  readonly rows: ReadonlySignal<readonly JudgedSession[]>
}

export function createTunnelsModel(token: string | null): TunnelsModel {
  const signals = {
    token: signal(token),
    notice: signal<SignOutReason | null>(null),
    news: signal<PollNews<TunnelState> | null>(null),
    state: signal<TunnelState | null>(null),
    words: signal(''),
    healths: signal<ReadonlySet<Health>>(new Set()),
    sorting: signal<Sorting>({ column: 'user', descending: false }),
    selected: signal<string | null>(null),
    pointed: signal<string | null>(null),
  }
  const sessions = computed(() => (signals.state.value ? judgeSessions(signals.state.value) : []))
  const shown = computed(() =>
    filterSessions(sessions.value, { words: signals.words.value, healths: signals.healths.value }),
  )
  const graph = computed(() => toGraph(signals.state.value?.gateways ?? [], shown.value))
  const selection = computed(() =>
    signals.selected.value === null ? undefined : findSelection(graph.value, signals.selected.value),
  )
  return {
    ...signals,
    bearer: computed(() => (signals.token.value === null ? null : readBearer(signals.token.value))),
    sessions,
    shown,
    graph,
    selection,
    rows: computed(() => sortSessions(selection.value?.sessions ?? shown.value, signals.sorting.value)),
  }
}
