import { applyGates, type Reason } from './gates.ts'
import type { Options } from './options.ts'
import { type Snapshot, type SnapshotEntry, toEntry } from './snapshot.ts'
import { type Ticket, toLine } from './tickets.ts'

/** What a round does with one ticket of the list. */
export type Step =
  | { readonly action: 'remember'; readonly ticket: Ticket; readonly entry: SnapshotEntry }
  | (TicketEvent & { readonly action: 'suppress'; readonly reason: Reason })
  | (TicketEvent & { readonly action: 'send' })

/** A new ticket, or a change of its status. */
export interface TicketEvent {
  readonly kind: 'new' | 'change'
  readonly ticket: Ticket
  /** What the snapshot holds once the event is done. */
  readonly entry: SnapshotEntry
  /** The status before a change. */
  readonly from: string | undefined
}

/** Compares each ticket of the list, in its order, with the snapshot. */
export function planRound(
  tickets: readonly Ticket[],
  snapshot: Pick<Snapshot, 'get'>,
  { now, freshMs, maxNotify }: { readonly now: number } & Pick<Options, 'freshMs' | 'maxNotify'>,
): Step[] {
  let budgetLeft = maxNotify
  return tickets.map((ticket): Step => {
    const known = snapshot.get(ticket.id)
    const entry = toEntry(ticket, known, now)
    const kind = eventKind(ticket, known)
    if (kind === undefined) return { action: 'remember', ticket, entry }
    const verdict = applyGates({ kind, ticket, now, freshMs, budgetLeft })
    const event = { kind, ticket, entry, from: known && toLine(known.status) }
    if (verdict !== 'send') return { action: 'suppress', reason: verdict, ...event }
    budgetLeft -= 1
    return { action: 'send', ...event }
  })
}

/** A change needs two known statuses. */
function eventKind(ticket: Ticket, known: SnapshotEntry | undefined): TicketEvent['kind'] | undefined {
  if (!known) return 'new'
  return ticket.status !== '' && known.status !== '' && ticket.status !== known.status ? 'change' : undefined
}
