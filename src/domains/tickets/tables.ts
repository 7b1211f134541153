import { defineColumns, generated, integer, json, text, schemaOf } from '../../store/columns.ts'
import type { FieldChanges, TicketLevel, TicketStatus } from './model.ts'

export const tickets = defineColumns({
  seq: generated(),
  id: text(),
  title: text(),
  level: text<TicketLevel>(),
  status: text<TicketStatus>(),
  description: text().nullable(),
  source: text().nullable(),
  dedupKey: text().nullable(),
  assignee: text().nullable(),
  commentCount: integer(),
  createdBy: text(),
  createdAt: integer(),
  updatedAt: integer(),
  resolvedAt: integer().nullable(),
  closedAt: integer().nullable(),
  /** Counts the changes; the ETag on the wire. */
  version: integer(),
})

/** Every change, with the comment that came with it; the first one is the creation. */
export const ticketChanges = defineColumns({
  seq: generated(),
  id: text(),
  ticketId: text(),
  at: integer(),
  actor: text(),
  /** The changed fields, without the comment. */
  changes: json<FieldChanges>(),
  comment: text().nullable(),
})

/** Which unclosed ticket holds a dedup key. */
const ticketDedupKeys = defineColumns({ dedupKey: text(), ticketId: text() })

/** In which tickets a comment mentions a user; by their numbers, which are the order of the list. */
const ticketMentions = defineColumns({ userId: text(), ticketSeq: integer() })

export const { changeRow, changeRows, db, lockable, names, pages, readRow } = schemaOf({
  tickets,
  ticket_changes: ticketChanges,
  ticket_dedup_keys: ticketDedupKeys,
  ticket_mentions: ticketMentions,
})
