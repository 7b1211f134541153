import { judge, type Reason } from './gates.ts'
import type { Options } from './options.ts'
import { type Snapshot, type SnapshotEntry, toEntry } from './snapshot.ts'
import { type Ticket, toLine } from './tickets.ts'

/** What is to be done about one ticket of the list. */
export type Step =
  | { readonly what: 'refresh'; readonly ticket: Ticket; readonly entry: SnapshotEntry }
  | (Told & { readonly what: 'suppress'; readonly reason: Reason })
  | (Told & { readonly what: 'send' })

/** A new ticket, or a change from a status. `entry` is what is remembered once it is dealt with. */
export interface Told {
  readonly kind: 'new' | 'change'
  readonly ticket: Ticket
  readonly entry: SnapshotEntry
  readonly from: string | undefined
}

/** Judges each ticket of the list, in its order, by what is remembered of it. */
export function planRound(
  tickets: readonly Ticket[],
  snapshot: Pick<Snapshot, 'get'>,
  { now, freshMs, maxNotify }: { readonly now: number } & Pick<Options, 'freshMs' | 'maxNotify'>,
): Step[] {
  let budgetLeft = maxNotify
  return tickets.map((ticket): Step => {
    const known = snapshot.get(ticket.id)
    const entry = toEntry(ticket, known, now)
    const kind = occasionKind(ticket, known)
    if (kind === undefined) return { what: 'refresh', ticket, entry }
    const verdict = judge({ kind, ticket, now, freshMs, budgetLeft })
    const told = { kind, ticket, entry, from: known && toLine(known.status) }
    if (verdict !== 'send') return { what: 'suppress', reason: verdict, ...told }
    budgetLeft -= 1
    return { what: 'send', ...told }
  })
}

/** A status that was or is unknown is no change: only two known ones can differ. */
function occasionKind(ticket: Ticket, known: SnapshotEntry | undefined): Told['kind'] | undefined {
  if (!known) return 'new'
  return ticket.status !== '' && known.status !== '' && ticket.status !== known.status ? 'change' : undefined
}
