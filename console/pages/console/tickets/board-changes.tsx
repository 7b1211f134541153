import { useSignal, type ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { Conflict } from '../../../parts/conflict.tsx'
import { partWords } from '../../../parts/part-words.ts'
import { reportFailure } from '../../../parts/report-failure.ts'
import { showToast } from '../../../parts/toast.tsx'
import { call, session } from '../platform.ts'
import { userLabel } from '../user-names.ts'
import { comparedFields } from './labels.ts'
import {
  ticketMovesFrom,
  type Ticket,
  type TicketDetails,
  type TicketEdit,
  type TicketStatus,
} from './model.ts'
import { ticketWords } from './words.ts'

/** The fields that can be changed on a card, one at a time. */
export type CardEdit = Pick<TicketEdit, 'status' | 'assignee'>

/** A change of a ticket in the version that the user sees. */
export interface CardChange {
  readonly ticket: Ticket
  readonly etag: string | null
  readonly edit: CardEdit
}

interface RefusedChange extends CardChange {
  readonly ticket: TicketDetails
}

export interface CardChanges {
  readonly apply: (change: CardChange) => Promise<void>
  /** The ticket that was changed last: its column is read again. */
  readonly changed: ReadonlySignal<TicketDetails | null>
  /** To be drawn with the tickets. */
  readonly conflict: ComponentChildren
}

/** Tag of the present version of a ticket; a list has no versions. */
export async function readVersion(id: string): Promise<string | null> {
  const result = await call('getTicket', { path: { id } })
  return result.ok ? result.etag : null
}

export function mayMove({ status }: Pick<Ticket, 'status'>, to: TicketStatus): boolean {
  return ticketMovesFrom(status).includes(to)
}

/** The status that every ticket may enter, and from which it may enter every other. */
const BETWEEN = 'open'

/** Changes tickets where they are on the board. The toast offers the way back. */
export function useCardChanges(): CardChanges {
  const refused = useSignal<RefusedChange | null>(null)
  const changed = useSignal<TicketDetails | null>(null)
  const compare = async ({ ticket: { id }, edit }: CardChange) => {
    const result = await call('getTicket', { path: { id } })
    if (!result.ok) return reportFailure(result.failure)
    const { value: ticket, etag } = result
    if (isSo(ticket, edit)) showToast('good', partWords().alreadySo)
    else refused.value = { ticket, etag, edit }
  }
  const apply = async (wanted: CardChange): Promise<void> => {
    const { ticket, etag: ifMatch, edit } = wanted
    const result = await call('editTicket', { path: { id: ticket.id }, body: edit, ifMatch })
    if (!result.ok && result.failure.status === 412) return compare(wanted)
    if (!result.ok) return reportFailure(result.failure)
    const { value: current, etag } = result
    changed.value = current
    const back = { ticket: current, etag, edit: editBack(ticket, edit) }
    showToast('good', doneText(ticket, edit), () => void goBack(back))
  }
  const goBack = async (wanted: CardChange): Promise<void> => {
    const { ticket, etag: ifMatch, edit } = wanted
    if (edit.status === undefined || mayMove(ticket, edit.status)) return apply(wanted)
    const result = await call('editTicket', { path: { id: ticket.id }, body: { status: BETWEEN }, ifMatch })
    if (result.ok) return apply({ ...wanted, etag: result.etag })
    if (result.failure.status === 412) return compare(wanted)
    return reportFailure(result.failure)
  }
  const keep = () => (refused.value = null)
  const openConflict = refused.value
  return {
    apply,
    changed,
    conflict: openConflict && (
      <Conflict
        fields={comparedFields(openConflict.edit, openConflict.ticket)}
        onKeep={keep}
        onClose={keep}
        onApply={() => {
          keep()
          void apply(openConflict)
        }}
      />
    ),
  }
}

function isSo(ticket: Ticket, { status = ticket.status, assignee = ticket.assignee }: CardEdit): boolean {
  return ticket.status === status && ticket.assignee === assignee
}

function editBack({ status, assignee }: Ticket, edit: CardEdit): CardEdit {
  return edit.status === undefined ? { assignee } : { status }
}

function doneText(ticket: Ticket, { status, assignee = null }: CardEdit): string {
  const words = ticketWords()
  const title = isolateText(ticket.title)
  if (status !== undefined) return words.moved(title, words.statuses[status])
  if (assignee === null) return words.unassigned(title)
  return assignee === session.bearer.value?.id
    ? words.assignedToMe(title)
    : words.assignedTo(title, userLabel(assignee))
}
