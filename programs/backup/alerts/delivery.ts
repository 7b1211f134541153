import type { WaitingClock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import type { Logger } from '../../../src/kernel/logger.ts'
import { DAY, parseRfc3339, SECOND } from '../../../src/kernel/time.ts'
import { describeEntry, type OutboxEntry, type TicketOpening } from './outbox-entry.ts'
import type { OutboxFiles } from './outbox-files.ts'
import type { Outbox } from './outbox.ts'
import {
  BACKUP_IDENTITY,
  type PlatformApi,
  type PlatformOutcome,
  type PlatformCall,
} from './platform-client.ts'
import type { NightTicketEdit } from './tickets.ts'
import type { TimeLimit } from './time-limit.ts'

export interface DeliveryDeps {
  readonly outbox: Outbox
  readonly files: Pick<OutboxFiles, 'lock'>
  readonly api: PlatformApi
  readonly clock: WaitingClock
  readonly logger: Logger
  /** Limits the time of all calls of the platform, and of the pauses between them. */
  readonly limit: TimeLimit
  /** Ends the pauses; the entries stay in the outbox. */
  readonly signal?: AbortSignal | undefined
}

const CALL_TIMEOUT_MS = 10 * SECOND
const LOCK_RETRY_MS = 100
const LOCK_LIMIT_MS = 2 * SECOND
// An unexpected failure of the platform that the entry itself causes must not hold up the others for ever.
const FAILING_ENTRY_MS = DAY
const INTERNAL_ERROR = 500

/** Empties an outbox, in order. */
export class Delivery {
  readonly #deps: DeliveryDeps
  readonly #sender: EntrySender

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
    this.#sender = new EntrySender({
      api: deps.api,
      callMs: () => Math.max(1, Math.min(CALL_TIMEOUT_MS, deps.limit.left())),
    })
  }

  /** Sends entries until none is left, the platform is away or the time is over. Never rejects. */
  async run(): Promise<void> {
    const { limit, outbox, logger } = this.#deps
    if (limit.left() <= 0 || !outbox.first()) return
    try {
      await limit.spend(async () => {
        using lock = await this.#lock()
        if (lock) await this.#sendAll()
      })
    } catch (error) {
      logger.error({ error: errorMessage(error) }, 'the delivery of alerts has failed')
    }
  }

  async #sendAll(): Promise<void> {
    const { outbox, limit, clock, signal } = this.#deps
    for (;;) {
      const entry = outbox.first()
      if (!entry) return
      if (signal?.aborted) return this.#logWaiting('the command was interrupted')
      if (limit.left() <= 0) return this.#logWaiting('the time for alerts in this run is over')
      const sent = await this.#sender.send(entry)
      if (await this.#settle(entry, sent)) continue
      if (sent.outcome !== 'unavailable') return
      if (sent.retryAfterMs <= 0 || sent.retryAfterMs >= limit.left()) return this.#logWaiting(sent.reason)
      await clock.wait(sent.retryAfterMs, signal)
    }
  }

  /** Returns whether the entry has left the outbox. */
  async #settle(entry: OutboxEntry, sent: PlatformOutcome): Promise<boolean> {
    const { outbox, logger } = this.#deps
    if (sent.outcome === 'accepted') {
      await outbox.remove(entry)
      logger.info({ entry: describeEntry(entry) }, 'accepted by the platform')
      return true
    }
    if (sent.outcome === 'unavailable' && !this.#failsForLong(entry, sent.status)) return false
    await outbox.setAside(entry, sent.reason)
    return true
  }

  #failsForLong({ at }: OutboxEntry, status: number | undefined): boolean {
    const age = this.#deps.clock.now() - (parseRfc3339(at) ?? 0)
    return status === INTERNAL_ERROR && age > FAILING_ENTRY_MS
  }

  #logWaiting(reason: string): void {
    const waiting = this.#deps.outbox.entries().length
    this.#deps.logger.warn({ reason, waiting }, 'alerts wait in the outbox until the platform accepts them')
  }

  /** Undefined while another process delivers. Without a usable lock this process delivers, too. */
  async #lock(): Promise<Disposable | undefined> {
    const { files, clock, logger, signal } = this.#deps
    const start = clock.monotonic()
    for (;;) {
      try {
        const lock = files.lock('delivery')
        if (lock || signal?.aborted || clock.monotonic() - start >= LOCK_LIMIT_MS) return lock
      } catch (error) {
        // The disk may be full. If two processes send the same entry, the platform ignores the second request.
        logger.warn({ error: errorMessage(error) }, 'the outbox cannot be locked')
        return { [Symbol.dispose]() {} }
      }
      await clock.wait(LOCK_RETRY_MS, signal)
    }
  }
}

interface EntrySenderDeps {
  readonly api: PlatformApi
  /** How long the next call may take. */
  readonly callMs: () => number
}

type AcceptedOutcome = Extract<PlatformOutcome, { readonly outcome: 'accepted' }>

/** The fields of a ticket that determine which part of a change is still missing. */
interface TicketState {
  readonly comments: readonly { readonly author: string; readonly text: string }[]
  readonly etag: string | undefined
}

/**
 * Sends entries of an outbox. Sending an entry again changes nothing: reports, tickets and beats have an idempotency key,
 * settings are replaced as a whole, and a ticket is read before it is changed.
 */
class EntrySender {
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

function ticketIdIn({ body }: AcceptedOutcome): string | undefined {
  const { id }: { readonly id?: unknown } = Object(body)
  return typeof id === 'string' && id !== '' ? id : undefined
}

function stateIn({ body, etag }: AcceptedOutcome): TicketState {
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
