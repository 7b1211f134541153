/** The valid fields of a ticket, each on one line. Times in milliseconds since the epoch. */
export interface Ticket {
  readonly id: string
  /** Empty when unknown, as the other texts. */
  readonly status: string
  readonly level: string
  readonly title: string
  /** The title without the limit of its length, for the test markers. */
  readonly fullTitle: string
  readonly createdAt: number | undefined
  readonly updatedAt: number | undefined
  /** As in the platform's answer. */
  readonly updatedAtText: string
}

export interface TicketList {
  /** Length of the list in the answer. */
  readonly fetched: number
  /** Each ticket once, the longest unchanged first: it has waited longest for its notification. */
  readonly tickets: readonly Ticket[]
  /** Tickets without a usable id. */
  readonly malformed: number
}

const MAX_ID_CHARACTERS = 256
const MAX_TITLE_CHARACTERS = 300
const LIST_NAMES = ['items', 'tickets', 'data'] as const
const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

// Spaces, control characters, line and paragraph separators, and controls of the direction of writing.
const UNPRINTABLE = /[\s\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu

type Fields = Readonly<Record<string, unknown>>

/** A list, or a part of it. */
export interface TicketPage {
  readonly tickets: readonly unknown[]
  /** Undefined at the end. */
  readonly nextCursor: string | undefined
  /** Whether the answer says if there is more. */
  readonly hasPages: boolean
}

/** The list of an answer, undefined when it has none. */
export function ticketPage(answer: unknown): TicketPage | undefined {
  const tickets = listIn(answer)
  if (!tickets) return undefined
  const { next_cursor: cursor }: Fields = Array.isArray(answer) ? {} : { ...Object(answer) }
  const nextCursor = typeof cursor === 'string' && cursor !== '' ? cursor : undefined
  return { tickets, nextCursor, hasPages: cursor !== undefined }
}

/** The tickets of a list. */
export function ticketsOf(list: readonly unknown[]): TicketList {
  const tickets = new Map<string, Ticket>()
  let malformed = 0
  for (const each of list) {
    const ticket = toTicket(each)
    if (!ticket) malformed += 1
    // Lists are sorted newest first: of two tickets with one id the first is newer.
    else if (!tickets.has(ticket.id)) tickets.set(ticket.id, ticket)
  }
  return { fetched: list.length, tickets: [...tickets.values()].sort(byLastChange), malformed }
}

/** The members of a JSON object; none of any other value. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

function listIn(answer: unknown): readonly unknown[] | undefined {
  if (Array.isArray(answer)) return answer
  const fields = fieldsOf(answer)
  return LIST_NAMES.map((name) => fields[name]).find((value) => Array.isArray(value))
}

function toTicket(value: unknown): Ticket | undefined {
  const { id, status, level, title, created_at, updated_at } = fieldsOf(value)
  const usableId = toId(id)
  return usableId === undefined
    ? undefined
    : {
        id: usableId,
        status: clip(toLine(status)),
        level: clip(toLine(level)).toLowerCase(),
        title: clip(toLine(title)),
        fullTitle: toLine(title),
        createdAt: toTime(created_at),
        updatedAt: toTime(updated_at),
        updatedAtText: clip(toLine(updated_at)),
      }
}

function toId(value: unknown): string | undefined {
  const id = toLine(typeof value === 'number' && Number.isFinite(value) ? String(value) : value)
  return id !== '' && id.length <= MAX_ID_CHARACTERS ? id : undefined
}

/**
 * The text of a field on one line. Anyone may open a ticket: a line break in a field must not forge a line of a
 * notification, nor a character that changes the direction of writing its order.
 */
export function toLine(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed().replace(UNPRINTABLE, ' ').trim() : ''
}

function clip(line: string): string {
  const characters = Array.from(line.slice(0, 2 * (MAX_TITLE_CHARACTERS + 1)))
  return characters.length > MAX_TITLE_CHARACTERS
    ? `${characters.slice(0, MAX_TITLE_CHARACTERS - 1).join('')}…`
    : line
}

function toTime(value: unknown): number | undefined {
  const time = typeof value === 'string' && RFC3339.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

const lastChange = ({ createdAt, updatedAt }: Ticket): number => updatedAt ?? createdAt ?? 0

const byLastChange = (one: Ticket, other: Ticket): number => lastChange(one) - lastChange(other)
