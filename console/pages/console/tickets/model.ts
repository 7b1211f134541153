import { eventObject } from '../../../api/event-stream.ts'
import { TICKET_MOVES, VALUES } from '../../../api/generated.ts'
import type { AnswerOf, BodyOf } from '../../../api/operations.ts'
import { readMostUrgent } from '../../../parts/list/most-urgent.ts'
import { readPages } from '../../../parts/list/read-pages.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import type { BadgeTone } from '../../../parts/status-badge.tsx'
import { call } from '../platform.ts'
import { listOf, resourceOf } from '../sources.ts'
import { userChoices } from '../user-names.ts'

export type Ticket = AnswerOf<'listTickets'>['items'][number]
export type TicketDetails = AnswerOf<'getTicket'>
export type Comment = TicketDetails['comments'][number]
export type TicketChange = AnswerOf<'getTicketHistory'>['items'][number]
export type TicketEdit = BodyOf<'editTicket'>
export type TicketStatus = Ticket['status']

export const TICKET_STATUSES = VALUES.listTickets.status.filter((status) => status !== 'unclosed')

export function ticketMovesFrom(status: TicketStatus): readonly TicketStatus[] {
  return TICKET_MOVES[status]
}

export const TICKET_TONES: Readonly<Record<TicketStatus, BadgeTone>> = {
  open: 'raised',
  in_progress: 'active',
  resolved: 'good',
  closed: 'quiet',
}

export const LEVEL_TONES: Readonly<Record<Ticket['level'], BadgeTone>> = {
  critical: 'critical',
  high: 'high',
  medium: 'warning',
  low: 'notice',
  info: 'quiet',
}

/** The most urgent level is first. */
const LEVELS = VALUES.listTickets.level

/** Tickets of the same level stay in their order. */
export function mostUrgentFirst<T extends Pick<Ticket, 'level'>>(tickets: readonly T[]): readonly T[] {
  return tickets.toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
}

/** The ticket that an event is about. */
const ticketIn = eventObject('TicketDetails')

const PREFIX = 'ticket.'

/** The list of the tickets, as the filters of the address say. */
export const ticketList = listOf('listTickets', PREFIX, {
  filters: [
    { name: 'text', kind: 'text', match: 'part' },
    { name: 'status', kind: 'choice', values: ['unclosed', ...TICKET_STATUSES] },
    { name: 'level', kind: 'choice', values: LEVELS },
    { name: 'source', kind: 'text' },
    { name: 'assignee', kind: 'reference', choices: userChoices },
    { name: 'mentioned', kind: 'reference', choices: userChoices },
    { name: 'created', kind: 'period' },
  ],
  keyOf: ({ id }) => id,
  fromEvent: ticketIn,
})

// More cards in a column than anybody looks through.
const COLUMN_LENGTH = 200

/** A column of the board. Its most urgent tickets are first; of very many it has only those of the most urgent levels. */
export const boardList: ListSource<Ticket> = {
  ...ticketList,
  // Each column has a status.
  filters: ticketList.filters.filter(({ name }) => name !== 'status'),
  read: (query, signal) =>
    readMostUrgent({
      read: (level) =>
        call('listTickets', { query: { ...query, ...(level && { level }), limit: COLUMN_LENGTH } }, signal),
      levels: LEVELS.filter((level) => query['level'] === undefined || query['level'] === level),
      enough: COLUMN_LENGTH,
    }),
}

/** One ticket with its description and its comments. */
export const ticketResource = resourceOf('getTicket', PREFIX, (id) => ({ path: { id } }), {
  isAbout: (event, id) => ticketIn(event)?.id === id,
})

// The most that one request reads.
const COMMENTS_PAGE = 100

/** The comments of a ticket in the first pages, newest first. */
export function readComments(id: string, pages: number) {
  return readPages(
    (from) => call('listTicketComments', { path: { id }, query: { ...from, limit: COMMENTS_PAGE } }),
    pages,
  )
}

/** The changes of one ticket. */
export const ticketHistory: ResourceSource<AnswerOf<'getTicketHistory'>> = {
  ...ticketResource,
  read: (id, signal) => call('getTicketHistory', { path: { id }, query: {} }, signal),
}
