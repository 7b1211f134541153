import {
  BACKUP_IDENTITY,
  type PlatformApi,
  type PlatformCall,
  type PlatformOutcome,
} from './platform-client.ts'
import type { OutboxEntry, TicketOpening } from './outbox-entry.ts'
import type { NightTicketEdit } from './tickets.ts'

export interface EntrySenderDeps {
  readonly api: PlatformApi
  /** How long the next call may take. */
  readonly callMs: () => number
}

type Answered = Extract<PlatformOutcome, { readonly outcome: 'accepted' }>

/** What of a ticket decides which part of a change is still to be made. */
interface TicketState {
  readonly comments: readonly { readonly author: string; readonly text: string }[]
  readonly etag: string | undefined
}

/**
 * Sends entries of an outbox. Sending an entry again changes nothing: reports, tickets and beats have an idempotency key,
 * settings are replaced as a whole, and a ticket is read before it is changed.
 */
export class EntrySender {
  readonly #deps: EntrySenderDeps

  constructor(deps: EntrySenderDeps) {
    this.#deps = deps
  }

  async send(entry: OutboxEntry): Promise<PlatformOutcome> {
    const idempotencyKey = entry.id
    switch (entry.kind) {
      case 'report':
        return this.#call({ method: 'POST', path: '/alerts/report', body: entry.body, idempotencyKey })
      case 'ticket':
        return this.#open(entry)
      case 'ticket_edit':
        return this.#edit(entry.ticket, entry.body)
      case 'heartbeat':
        return this.#call({ method: 'PUT', path: heartbeatPath(entry.name), body: entry.body })
      case 'beat':
        return this.#call({ method: 'POST', path: `${heartbeatPath(entry.name)}/beat`, idempotencyKey })
    }
  }

  /** Opens a ticket, or finds the one that was opened by this entry or has its key. */
  async #open({ id, body }: TicketOpening): Promise<PlatformOutcome> {
    const opened = await this.#call({ method: 'POST', path: '/tickets', body, idempotencyKey: id })
    return opened.outcome !== 'accepted' || ticketIdIn(opened) !== undefined
      ? opened
      : { outcome: 'unavailable', reason: 'the answer has no id of a ticket', retryAfterMs: 0 }
  }

  async #edit(opening: TicketOpening, edit: NightTicketEdit): Promise<PlatformOutcome> {
    const opened = await this.#open(opening)
    if (opened.outcome !== 'accepted') return opened
    const path = `/tickets/${encodeURIComponent(ticketIdIn(opened) ?? '')}`
    const read = await this.#call({ method: 'GET', path })
    if (read.outcome !== 'accepted') return read
    const { etag, comments } = stateIn(read)
    const body = withoutKnownComment(edit, comments)
    if (Object.keys(body).length === 0) return read
    const changed = await this.#call({
      method: 'PUT',
      path,
      body,
      ...(etag !== undefined && { ifMatch: etag }),
    })
    return changed.outcome === 'refused' && changed.status === TICKET_CHANGED
      ? { outcome: 'unavailable', reason: changed.reason, retryAfterMs: 0 }
      : changed
  }

  #call(call: Omit<PlatformCall, 'timeoutMs'>): Promise<PlatformOutcome> {
    return this.#deps.api.send({ ...call, timeoutMs: this.#deps.callMs() })
  }
}

// Precondition Failed: a person changed the ticket after it was read.
const TICKET_CHANGED = 412

function heartbeatPath(name: string): string {
  return `/alerts/heartbeats/${encodeURIComponent(name)}`
}

function ticketIdIn({ body }: Answered): string | undefined {
  const { id }: { readonly id?: unknown } = Object(body)
  return typeof id === 'string' && id !== '' ? id : undefined
}

function stateIn({ body, etag }: Answered): TicketState {
  const { comments }: { readonly comments?: unknown } = Object(body)
  return { comments: Array.isArray(comments) ? comments.map((each) => ({ ...Object(each) })) : [], etag }
}

/** The change without a comment that an earlier, interrupted attempt has made. */
function withoutKnownComment(
  { comment, ...rest }: NightTicketEdit,
  comments: TicketState['comments'],
): NightTicketEdit {
  const isKnown = comments.some(({ author, text }) => author === BACKUP_IDENTITY.id && text === comment)
  return comment === undefined || isKnown ? rest : { ...rest, comment }
}
