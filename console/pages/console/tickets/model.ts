import type { LiveEvent } from '../../../api/event-stream.ts'
import type { AnswerOf, BodyOf } from '../../../api/operations.ts'
import type { BadgeTone, Tone } from '../../../parts/status-badge.tsx'

export type Ticket = AnswerOf<'listTickets'>['items'][number]
export type TicketDetails = AnswerOf<'getTicket'>
export type TicketChange = AnswerOf<'getTicketHistory'>['items'][number]
export type TicketEdit = BodyOf<'editTicket'>
export type TicketStatus = Ticket['status']

export const TICKET_STATUSES = ['open', 'in_progress', 'resolved', 'closed'] as const

/** docs/specification.md, Tickets */
export const TICKET_MOVES: Readonly<Record<TicketStatus, readonly TicketStatus[]>> = {
  open: ['in_progress', 'resolved', 'closed'],
  in_progress: ['open', 'resolved', 'closed'],
  resolved: ['open', 'closed'],
  closed: ['open'],
}

export const TICKET_TONES: Readonly<Record<TicketStatus, Tone>> = {
  open: 'active',
  in_progress: 'warning',
  resolved: 'good',
  closed: 'quiet',
}

export const LEVEL_TONES: Readonly<Record<Ticket['level'], BadgeTone>> = {
  critical: 'critical',
  high: 'danger',
  medium: 'warning',
  low: 'active',
  info: 'quiet',
}

/** The ticket that an event is about. */
export function ticketIn({ data }: LiveEvent): TicketDetails | null {
  return typeof data === 'object' && data !== null && 'comment_count' in data ? (data as TicketDetails) : null
}
