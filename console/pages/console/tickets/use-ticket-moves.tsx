import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Conflict } from '../../../parts/conflict.tsx'
import { partWords } from '../../../parts/part-words.ts'
import { reportFailure } from '../../../parts/report-failure.ts'
import { showToast } from '../../../parts/toast.tsx'
import { call } from '../platform.ts'
import { comparedFields } from './labels.ts'
import { TICKET_MOVES, type Ticket, type TicketDetails, type TicketStatus } from './model.ts'
import { ticketWords } from './words.ts'

export function mayMove({ status }: Pick<Ticket, 'status'>, to: TicketStatus): boolean {
  return TICKET_MOVES[status].includes(to)
}

/** A ticket in the version that the user sees, and its new status. */
export interface TicketMove {
  readonly ticket: Ticket
  readonly etag: string | null
  readonly to: TicketStatus
}

interface RefusedMove {
  readonly current: TicketDetails
  readonly etag: string | null
  readonly to: TicketStatus
}

export interface TicketMoves {
  readonly move: (move: TicketMove) => Promise<void>
  /** To be drawn with the tickets. */
  readonly conflict: ComponentChildren
}

/** Gives tickets another status. The toast offers the way back, where the API has one. */
export function useTicketMoves(): TicketMoves {
  const refused = useSignal<RefusedMove | null>(null)
  const compare = async ({ ticket: { id }, to }: TicketMove) => {
    const result = await call('getTicket', { path: { id } })
    if (!result.ok) return reportFailure(result.failure)
    const { value: current, etag } = result
    if (current.status === to) showToast('good', partWords().alreadySo)
    else refused.value = { current, etag, to }
  }
  const move = async (wanted: TicketMove): Promise<void> => {
    const { ticket, etag: ifMatch, to } = wanted
    const result = await call('editTicket', { path: { id: ticket.id }, body: { status: to }, ifMatch })
    if (!result.ok && result.failure.status === 412) return compare(wanted)
    if (!result.ok) return reportFailure(result.failure)
    const { moved, statuses } = ticketWords()
    const { value: changed, etag } = result
    const undo = () => void move({ ticket: changed, etag, to: ticket.status })
    showToast('good', moved(ticket.title, statuses[to]), mayMove(changed, ticket.status) ? undo : undefined)
  }
  const keep = () => (refused.value = null)
  const apply = ({ current, etag, to }: RefusedMove) => {
    keep()
    void move({ ticket: current, etag, to })
  }
  const shown = refused.value
  return {
    move,
    conflict: shown && (
      <Conflict
        fields={comparedFields({ status: shown.to }, shown.current)}
        onKeep={keep}
        onClose={keep}
        onApply={() => apply(shown)}
      />
    ),
  }
}
