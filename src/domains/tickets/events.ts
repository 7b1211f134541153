import type { Comment, TicketDetails } from './model.ts'

/** docs/specification.md, Events */
export const TICKET_EVENTS = {
  created: 'ticket.created',
  updated: 'ticket.updated',
} as const

// The bus refuses a message of more than 1 MiB (the default of NATS). As JSON, the description takes up to 96 KiB.
const EVENT_COMMENT_BYTES = 512 * 1024

/** The ticket with as many of its newest comments as fit into an event. */
export function eventData(ticket: TicketDetails): TicketDetails {
  return { ...ticket, comments: newestComments(ticket.comments, EVENT_COMMENT_BYTES) }
}

function newestComments(comments: readonly Comment[], limitBytes: number): readonly Comment[] {
  let bytes = 0
  const firstKept = comments.findLastIndex((comment) => (bytes += jsonBytes(comment)) > limitBytes) + 1
  return comments.slice(firstKept)
}

function jsonBytes(comment: Comment): number {
  return Buffer.byteLength(JSON.stringify(comment))
}
