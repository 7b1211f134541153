import type { AnswerOf } from '../../../api/operations.ts'
import { readMostUrgent } from '../../../parts/list/most-urgent.ts'
import { readPages } from '../../../parts/list/read-pages.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call } from '../platform.ts'
import { listOf, resourceOf } from '../sources.ts'
import { userChoices } from '../user-names.ts'
import { LEVELS, TICKET_STATUSES, ticketIn, type Ticket } from './model.ts'

const PREFIX = 'ticket.'

/** The list of the tickets, as the filters of the address say. */
export const ticketList = listOf('listTickets', PREFIX, {
  filters: [
    { name: 'text', kind: 'text', match: 'part' },
    { name: 'status', kind: 'choice', values: ['unclosed', ...TICKET_STATUSES] },
    { name: 'level', kind: 'choice', values: LEVELS },
    { name: 'source', kind: 'text' },
    { name: 'assignee', kind: 'reference', choices: userChoices },
  ],
  keyOf: ({ id }) => id,
  fromEvent: ticketIn,
})

// More cards in a column than anybody looks through.
const COLUMN_LENGTH = 200

/** A column of the board. Its most urgent tickets are first; of very many it has only those of the most urgent levels. */
export const boardList: ListSource<Ticket> = {
  ...ticketList,
  read: (query, signal) =>
    readMostUrgent({
      read: (level) =>
        call('listTickets', { query: { ...query, ...(level && { level }), limit: COLUMN_LENGTH } }, signal),
      levels: LEVELS,
      enough: COLUMN_LENGTH,
    }),
}

/** One ticket with its description and its comments. */
export const ticketResource = resourceOf('getTicket', PREFIX, (id) => ({ path: { id } }), {
  isAbout: (event, id) => ticketIn(event)?.id === id,
})

// As many as one request reads.
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
