import { eventObject } from '../../../api/event-stream.ts'
import type { AnswerOf, BodyOf } from '../../../api/operations.ts'
import type { BadgeTone, Tone } from '../../../parts/status-badge.tsx'

export type Ticket = AnswerOf<'listTickets'>['items'][number]
export type TicketDetails = AnswerOf<'getTicket'>
export type Comment = TicketDetails['comments'][number]
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

/** The most urgent level is first. */
export const LEVELS: readonly Ticket['level'][] = ['critical', 'high', 'medium', 'low', 'info']

/** Tickets of the same level stay in their order. */
export function mostUrgentFirst<T extends Pick<Ticket, 'level'>>(tickets: readonly T[]): readonly T[] {
  return tickets.toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
}

/** The ticket that an event is about. */
export const ticketIn = eventObject<TicketDetails>('comment_count')
