import { describeFailure } from '../../../parts/failure-words.ts'
import { showToast } from '../../../parts/toast.tsx'
import { call } from '../platform.ts'
import { TICKET_MOVES, type Ticket, type TicketStatus } from './model.ts'
import { ticketWords } from './words.ts'

export function mayMove({ status }: Ticket, to: TicketStatus): boolean {
  return TICKET_MOVES[status].includes(to)
}

/** Gives a ticket another status. The toast offers the way back, where the API has one. */
export async function moveTicket(ticket: Ticket, to: TicketStatus): Promise<void> {
  const result = await call('editTicket', { path: { id: ticket.id }, body: { status: to } })
  if (!result.ok) return showToast('warning', describeFailure(result.failure))
  const { moved, statuses } = ticketWords()
  const changed = result.value
  const undo = () => void moveTicket(changed, ticket.status)
  showToast('good', moved(ticket.title, statuses[to]), mayMove(changed, ticket.status) ? undo : undefined)
}
