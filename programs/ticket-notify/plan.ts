import { applyGates, notifyRank, type Reason } from './gates.ts'
import type { Options } from './options.ts'
import { type Snapshot, type SnapshotEntry, toEntry, toldLevel } from './snapshot.ts'
import { type Ticket, toLine } from './tickets.ts'

/** What a round does with one ticket of the list. */
export type Step =
  | { readonly action: 'remember'; readonly ticket: Ticket; readonly entry: SnapshotEntry }
  | (TicketEvent & { readonly action: 'suppress'; readonly reason: Reason })
  | (TicketEvent & { readonly action: 'send' })

/** A new ticket, or a change of its status or a rise of its level. */
export interface TicketEvent {
  readonly kind: 'new' | 'change'
  readonly ticket: Ticket
  /** What the snapshot holds once the event is done. */
  readonly entry: SnapshotEntry
  /** The status before a change. */
  readonly from: string | undefined
  /** The level that was notified before its rise. */
  readonly fromLevel?: string
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
    const found = eventOf(ticket, known)
    if (found === undefined) return { action: 'remember', ticket, entry }
    const { isRise = false, ...changed } = found
    const verdict = applyGates({ kind: found.kind, isRise, ticket, now, freshMs, budgetLeft })
    const event = { ...changed, ticket, entry, from: known && toLine(known.status) }
    if (verdict !== 'send') return { action: 'suppress', reason: verdict, ...event }
    budgetLeft -= 1
    return { action: 'send', ...event }
  })
}

interface Found extends Pick<TicketEvent, 'kind' | 'fromLevel'> {
  readonly isRise?: true
}

/** A change needs two known statuses, a rise two known levels. A rise to a level that was not notified is news, as of a new ticket if none was. */
function eventOf(ticket: Ticket, known: SnapshotEntry | undefined): Found | undefined {
  if (!known) return { kind: 'new' }
  if (ticket.status !== '' && known.status !== '' && ticket.status !== known.status) return { kind: 'change' }
  const told = toldLevel(known)
  const isRise =
    known.level !== '' && notifyRank(ticket.level) > Math.max(notifyRank(known.level), notifyRank(told))
  if (!isRise) return undefined
  return told === '' ? { kind: 'new', isRise } : { kind: 'change', isRise, fromLevel: told }
}
