import { isRecord, jsonValueOf } from '../../../src/kernel/text.ts'
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

type Shape = Readonly<Record<string, 'string' | 'object'>>

/** The members of each kind besides `id` and `at`. */
const SHAPES: Readonly<Record<OutboxRequest['kind'], Shape>> = {
  report: { body: 'object' },
  ticket: { body: 'object' },
  ticket_edit: { ticket: 'object', body: 'object' },
  heartbeat: { name: 'string', body: 'object' },
  beat: { name: 'string' },
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
  return isEntry(value) ? value : undefined
}

function isEntry(value: unknown): value is OutboxEntry {
  if (!isRecord(value)) return false
  const shape = new Map(Object.entries(SHAPES)).get(String(value['kind']))
  if (shape === undefined || !hasShape(value, { id: 'string', at: 'string', ...shape })) return false
  return !('ticket' in value) || hasShape(Object(value['ticket']), { id: 'string', body: 'object' })
}

function hasShape(value: object, shape: Shape): boolean {
  const members = new Map<string, unknown>(Object.entries(value))
  return Object.entries(shape).every(([name, type]) => {
    const member = members.get(name)
    return typeof member === type && member !== null
  })
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
