import { isUserName, USER_NAME_CHARACTERS } from '../../kernel/identity.ts'

/** The levels of a ticket, the most urgent first (docs/specification.md, Tickets). */
export const TICKET_LEVELS = ['critical', 'high', 'medium', 'low', 'info'] as const
export type TicketLevel = (typeof TICKET_LEVELS)[number]

export const TICKET_STATUSES = ['open', 'in_progress', 'resolved', 'closed'] as const
export type TicketStatus = (typeof TICKET_STATUSES)[number]

/** The allowed moves; an error message names them in this order. */
export const TICKET_MOVES: Readonly<Record<TicketStatus, readonly TicketStatus[]>> = {
  open: ['in_progress', 'resolved', 'closed'],
  in_progress: ['open', 'resolved', 'closed'],
  resolved: ['open', 'closed'],
  closed: ['open'],
}

export interface Ticket {
  readonly id: string
  readonly title: string
  readonly level: TicketLevel
  readonly status: TicketStatus
  readonly source: string | null
  /** At most one unclosed ticket holds a key. */
  readonly dedupKey: string | null
  /** Id of a user. */
  readonly assignee: string | null
  readonly commentCount: number
  readonly createdBy: string
  /** All times are epoch milliseconds, UTC. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly resolvedAt: number | null
  readonly closedAt: number | null
  /** 1 at the creation, incremented by each change. */
  readonly version: number
}

/** docs/specification.md, Limits */
export const SHOWN_COMMENTS = 50

export interface Comment {
  readonly id: string
  readonly at: number
  readonly author: string
  readonly text: string
}

/** One ticket in full; lists leave out its texts. */
export interface TicketDetails extends Ticket {
  readonly description: string | null
  /** The newest ones, at most {@link SHOWN_COMMENTS}; oldest first. */
  readonly comments: readonly Comment[]
}

/** What a client sends to create a ticket. */
export interface NewTicket {
  readonly title: string
  readonly level: TicketLevel
  readonly description?: string
  readonly source?: string
  readonly assignee?: string | null
  readonly dedupKey?: string
}

/** What a client sends to change a ticket; a field that is left out keeps its value. */
export interface TicketEdit extends Partial<Pick<Ticket, 'status' | 'level' | 'title' | 'assignee'>> {
  readonly comment?: string
}

/** The changed fields, each with its value before and after. */
export type FieldChanges = Readonly<Record<string, readonly [from: string | null, to: string | null]>>

/** One change of a ticket; the first one is its creation, from null. */
export interface TicketChange {
  readonly at: number
  readonly actor: string
  readonly changes: FieldChanges
}

/** An open ticket, created at `at`. */
export function newTicket(wanted: NewTicket, id: string, createdBy: string, at: number): TicketDetails {
  const { title, level, description = null, source = null, assignee = null, dedupKey = null } = wanted
  return {
    id,
    title,
    level,
    status: 'open',
    source,
    dedupKey,
    assignee,
    commentCount: 0,
    createdBy,
    createdAt: at,
    updatedAt: at,
    resolvedAt: null,
    closedAt: null,
    version: 1,
    description,
    comments: [],
  }
}

const RECORDED_FIELDS = ['status', 'level', 'title', 'source', 'assignee'] as const

/** The recorded fields that have another value after a change; all that have one if it is the creation. */
export function changesOf(before: Ticket | undefined, after: Ticket): FieldChanges {
  const values = RECORDED_FIELDS.map((field) => [field, [before?.[field] ?? null, after[field]]] as const)
  return Object.fromEntries(values.filter(([, [from, to]]) => from !== to))
}

/** docs/specification.md, Limits */
const MENTIONS = 20

const MENTION = new RegExp(`(?<![${USER_NAME_CHARACTERS}])@([${USER_NAME_CHARACTERS}]+)`, 'g')

/**
 * The names that a text may mention by `@name`, at most {@link MENTIONS}. What ends a sentence can also be the end of a name,
 * so both are in the list.
 */
export function mentionedNames(text: string): readonly string[] {
  const names = [...text.matchAll(MENTION)].map(([, name = '']) => name).slice(0, MENTIONS)
  return [...new Set(names.flatMap((name) => [name, name.replace(/(?<![.-])[.-]+$/, '')]))].filter(isUserName)
}

/** The ticket after an edit whose move, if it has one, is one of {@link TICKET_MOVES}. */
export function applyEdit<T extends Ticket>(ticket: T, { comment, ...fields }: TicketEdit, at: number): T {
  const { status = ticket.status } = fields
  return {
    ...ticket,
    ...fields,
    ...(status !== ticket.status && statusTimes(ticket, status, at)),
    commentCount: ticket.commentCount + (comment === undefined ? 0 : 1),
    updatedAt: at,
    version: ticket.version + 1,
  }
}

/** When a ticket that moves to this status was resolved, and closed. */
function statusTimes({ resolvedAt }: Ticket, status: TicketStatus, at: number) {
  if (status === 'closed') return { resolvedAt, closedAt: at }
  return { resolvedAt: status === 'resolved' ? at : null, closedAt: null }
}

/** docs/specification.md, Events */
export const TICKET_EVENTS = {
  created: 'ticket.created',
  updated: 'ticket.updated',
} as const

// The bus refuses a message of more than 1 MiB (the default of NATS). As JSON, the description takes up to 96 KiB.
const EVENT_COMMENT_BYTES = 512 * 1024

/** The ticket with as many of its newest comments as fit into an event. */
export function eventData(ticket: TicketDetails): TicketDetails {
  let bytes = 0
  const isOneTooMany = (comment: Comment) =>
    (bytes += Buffer.byteLength(JSON.stringify(comment))) > EVENT_COMMENT_BYTES
  return { ...ticket, comments: ticket.comments.slice(ticket.comments.findLastIndex(isOneTooMany) + 1) }
}
