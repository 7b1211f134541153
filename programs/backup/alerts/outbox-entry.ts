import { isRecord, jsonValueOf } from '../../../src/kernel/text.ts'
import { isText, objectOf, type ShapeCheck } from '../shape-checks.ts'
import type { AlertReport } from './alert-report.ts'
import type { NewNightTicket, NightTicketEdit } from './tickets.ts'

/** A request that opens a ticket. Repeated with the same id, the platform answers with the same ticket. */
export interface TicketOpening {
  readonly id: string
  readonly body: NewNightTicket
}

/** The body of `PUT /alerts/heartbeats/{name}`. */
export interface HeartbeatBody {
  readonly every_seconds: number
  readonly grace_seconds: number
  readonly source: string
}

/** A request to the platform that waits in the outbox. */
export type OutboxRequest =
  | { readonly kind: 'report'; readonly body: AlertReport }
  | { readonly kind: 'ticket'; readonly body: NewNightTicket }
  // An edit contains the opening of its ticket, because perhaps only another process knows the id of the ticket.
  | { readonly kind: 'ticket_edit'; readonly ticket: TicketOpening; readonly body: NightTicketEdit }
  | { readonly kind: 'heartbeat'; readonly name: string; readonly body: HeartbeatBody }
  | { readonly kind: 'beat'; readonly name: string }

/** One line of the outbox. */
export type OutboxEntry = OutboxRequest & {
  readonly id: string
  /** When it was written: RFC 3339. */
  readonly at: string
}

const ENTRY = { id: isText, at: isText }

const ENTRY_CHECKS: Readonly<Record<OutboxRequest['kind'], ShapeCheck>> = {
  report: objectOf({ ...ENTRY, body: isRecord }),
  ticket: objectOf({ ...ENTRY, body: isRecord }),
  ticket_edit: objectOf({ ...ENTRY, ticket: objectOf({ id: isText, body: isRecord }), body: isRecord }),
  heartbeat: objectOf({ ...ENTRY, name: isText, body: isRecord }),
  beat: objectOf({ ...ENTRY, name: isText }),
}

/** The lines of an outbox: its entries in order, and the lines that cannot be read as entries. */
export interface OutboxLines {
  readonly entries: readonly OutboxEntry[]
  readonly broken: readonly string[]
}

export function parseOutbox(text: string): OutboxLines {
  const entries = new Map<string, OutboxEntry>()
  const broken: string[] = []
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const entry = parseEntry(line)
    if (entry) entries.set(entry.id, entry)
    else broken.push(line)
  }
  return { entries: [...entries.values()], broken }
}

export function formatOutbox(entries: readonly object[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
}

function parseEntry(line: string): OutboxEntry | undefined {
  const value = jsonValueOf(line)
  const kind = isRecord(value) ? String(value['kind']) : ''
  const check = new Map<string, ShapeCheck>(Object.entries(ENTRY_CHECKS)).get(kind)
  return check?.(value) ? (value as OutboxEntry) : undefined
}

/** What an entry is about, for the log. */
export function describeEntry(entry: OutboxRequest): string {
  switch (entry.kind) {
    case 'report':
      return `the report "${entry.body.title}"`
    case 'ticket':
      return `the ticket "${entry.body.title}"`
    case 'ticket_edit':
      return `a change of the ticket "${entry.ticket.body.title}"`
    case 'heartbeat':
      return `the settings of the heartbeat ${entry.name}`
    case 'beat':
      return `a beat of the heartbeat ${entry.name}`
  }
}
