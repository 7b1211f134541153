import type { RawBuilder } from 'kysely'
import { EVENT_HEADERS, eventSource, toCloudEvent } from '../../kernel/events.ts'
import { invalidTransition, requireFound, type AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Page, PagePosition, PageRequest } from '../../kernel/page.ts'
import { DAY, MINUTE, toRfc3339 } from '../../kernel/time.ts'
import { storedTrace } from '../../kernel/trace.ts'
import { declaredAlarmId } from '../../kernel/alerts.ts'
import type { PlatformAlert, PlatformRecovery, RecoverableAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import type {
  DeadLetters,
  Delivery,
  Outbox,
  OutboxMessage,
  Settlement,
  UndeliveredMessage,
} from '../../ports/outbox.ts'
import { readBusStream, recordBusStream, type BusStreamMark, type LostSpan } from '../../store/work/marks.ts'
import { readsAside, type ServiceDeps, type Tx } from '../../store/store.ts'
import {
  MESSAGE_ALERTS,
  isEventOf,
  MAX_DEAD,
  MAX_DEAD_BYTES,
  newDeadMessage,
  newMessage,
  replayCommand,
  type Message,
  type NewMessage,
} from './model.ts'
import {
  countDeadMessages,
  countPendingMessages,
  deleteDelivered,
  findDelivered,
  findMessage,
  insertMessage,
  listMessages,
  listPending,
  lockPending,
  markAttempt,
  markDelivered,
  NEWEST_NUMBER,
  readDeadSize,
  readOldestPending,
  redriveMessage,
  replayDelivered,
  type DeliverySpan,
  type MessageFilter,
  type OldestPending,
} from './store.ts'

/** What the message domain needs of the rest of the platform. */
export interface MessageDeps extends Pick<ServiceDeps, 'store' | 'clock' | 'logger'> {
  readonly delivery: Delivery
  readonly alerts: RecoverableAlerts
}

/** Encodes the data of an event as JSON text, in the same form as the API. */
export type EncodeEvent<T> = (data: T) => string

// Long enough for a bus on the same network, and still acceptable as the duration of a request.
const DELIVERY_TIMEOUT_MS = 1_000
const REASON_LENGTH = 500
const REDRIVE_BATCH = 50
const REPLAY_BATCH = 500
const ALERTS_DOMAIN = 'alerts'
// docs/guide/operating.md, The bus
const STREAM_KEEPS_MS = 7 * DAY
const SOURCE = 'platform.messages'
const LOSS_ALERT = { alarmId: declaredAlarmId(MESSAGE_ALERTS, 'bus.emptied'), source: SOURCE }
/** The texts about messages that a stream before this one had. */
const EMPTIED = {
  line: 'the stream of the bus has lost what it stored',
  title: 'The bus has lost the messages that it stored',
  body: (times: { readonly made_at: string }) => `Its stream was made anew at ${times.made_at}.`,
}
/** The texts about messages that no stream has had. */
const UNSTORED = {
  line: 'the bus had no JetStream, and has not stored what was delivered meanwhile',
  title: 'The bus has not stored messages',
  body: ({ since, until }: { readonly since: string; readonly until: string }) =>
    `It had no JetStream from ${since} to ${until}.`,
}
const REFUSED_FOR_GOOD = 'the bus permanently refused a message'

/** The outbox: the messages of users and the events of all domains, from their commit to their delivery. */
export class Messages implements Outbox, DeadLetters {
  readonly #deps: MessageDeps

  constructor(deps: MessageDeps) {
    this.#deps = deps
  }

  /** The event sink of the domain `source`: it writes CloudEvents of the source `/platform/<source>`. */
  eventsOf<T>(source: string, encode: EncodeEvent<T>): EventSink<T> {
    return {
      append: async (tx, { type, subject, data }) => {
        const at = this.#deps.clock.now()
        const id = newId()
        const attributes = { id, source: eventSource(source), type, subject, time: toRfc3339(at) }
        const payload = toCloudEvent(attributes, encode(data))
        await this.#insert(tx, newMessage({ id, subject: type, payload, headers: EVENT_HEADERS }, at))
      },
    }
  }

  /** Persists a message of a user, which is delivered after the commit; returns it as pending. */
  async publish(tx: Tx, { subject, payload, headers }: NewMessage): Promise<Message> {
    const trace = storedTrace()
    const content = { id: newId(), subject, payload: JSON.stringify(payload), headers, trace }
    const message = newMessage(content, this.#deps.clock.now())
    await this.#insert(tx, message)
    return message
  }

  /** Waits a second for the delivery and returns the message; undefined when it has been pruned. */
  async awaitDelivery(id: string): Promise<Message | undefined> {
    const { store, delivery } = this.#deps
    // Called before the message is read, so that a delivery in between is not missed.
    const settled = delivery.waitForSettlement(id, DELIVERY_TIMEOUT_MS)
    const message = await findMessage(store.read, id)
    if (message?.status !== 'pending') return message
    await settled
    return findMessage(store.read, id)
  }

  /** Rejects with `message_not_found`. */
  async get(id: string): Promise<Message> {
    return requireFound(await findMessage(this.#deps.store.read, id), 'message', id)
  }

  /** Newest first. */
  list(filter: MessageFilter, page: PageRequest): Promise<Page<Message>> {
    const { store } = this.#deps
    return listMessages(filter.hidden?.length ? readsAside(store) : store.read, filter, page)
  }

  /** The number of the newest message, for a statement of another domain; 0 before the first one. */
  get newestNumber(): RawBuilder<number> {
    return NEWEST_NUMBER
  }

  /** Makes a dead message pending again. Rejects with `message_not_found`, or `invalid_transition` if it is not dead. */
  async redrive(tx: Tx, id: string): Promise<Message> {
    const redriven = await this.#redriveOne(tx, id)
    if (!redriven) throw notDead(requireFound(await findMessage(tx, id), 'message', id))
    tx.afterCommit(() => this.#deps.delivery.wake())
    return redriven
  }

  /** Makes the messages that are dead now pending again, each one once; returns how many. */
  async redriveDead(signal: AbortSignal): Promise<number> {
    const { store } = this.#deps
    let redriven = 0
    let after: PagePosition | null = null
    do {
      const request = { limit: REDRIVE_BATCH, after }
      const page: Page<Message> = await listMessages(store.read, { status: 'dead' }, request)
      redriven += await store.write((tx) => this.#redriveEach(tx, page.items))
      after = page.next
    } while (after && !signal.aborted)
    return redriven
  }

  async #redriveEach(tx: Tx, messages: readonly Message[]): Promise<number> {
    let redriven = 0
    for (const { id } of messages) if (await this.#redriveOne(tx, id)) redriven++
    tx.afterCommit(() => this.#deps.delivery.wake())
    return redriven
  }

  async #redriveOne(tx: Tx, id: string): Promise<Message | undefined> {
    const redriven = await redriveMessage(tx, id)
    if (redriven) await this.#deps.alerts.recoverIfRaised(tx, redrivenAlert(redriven))
    return redriven
  }

  /**
   * Makes the messages pending again that were delivered in a span of the past: the bus gets them once more, with their ids.
   * Returns how many.
   */
  async replay(span: DeliverySpan): Promise<number> {
    const { store, delivery } = this.#deps
    let replayed = 0
    let batch: number
    do {
      batch = await store.write(async (tx) => {
        tx.afterCommit(() => delivery.wake())
        return replayDelivered(tx, span, REPLAY_BATCH)
      })
      replayed += batch
    } while (batch > 0)
    await store.write((tx) => this.#endLoss(tx, span))
    return replayed
  }

  /**
   * The bus has made the stream, to which messages are delivered now, at `madeAt`. Raises an alert if it lacks messages that the
   * bus has confirmed before: another stream has had them, or none. May be repeated.
   */
  async noteStream(madeAt: number): Promise<void> {
    const { store, clock } = this.#deps
    const known = await readBusStream(store.read)
    if (known?.madeAt === madeAt && known.unstoredSince === undefined) return
    const now = clock.now()
    await store.write(async (tx) => {
      const found = await findLost(tx, known, madeAt, now)
      const lost = found ? joinSpans(found, known?.lost) : known?.lost
      await recordBusStream(tx, { madeAt, ...(lost && { lost }) })
      if (found && lost) await this.#reportLoss(tx, madeAt, lost)
    })
  }

  /** The bus stores nothing of what it confirms since that time. May be repeated. */
  async noteUnstored(since: number): Promise<void> {
    const { store } = this.#deps
    const known = await readBusStream(store.read)
    if (known?.unstoredSince !== undefined) return
    await store.write((tx) => recordBusStream(tx, { ...known, unstoredSince: since }))
  }

  async #reportLoss(tx: Tx, madeAt: number, lost: LostSpan): Promise<void> {
    const { alerts, logger } = this.#deps
    const fields = { made_at: toRfc3339(madeAt), since: toRfc3339(lost.since), until: toRfc3339(lost.until) }
    const { line, title, body } = lost.isUnstored ? UNSTORED : EMPTIED
    tx.afterCommit(() => logger.error(fields, `${line}; run: ${replayCommand(lost)}`))
    await alerts.raise(tx, {
      ...LOSS_ALERT,
      title,
      body: `${body(fields)} Send them again: ${replayCommand(lost)}`,
      severity: 'ERROR',
    })
  }

  /** Ends the alert about lost messages after they were sent again. */
  async #endLoss(tx: Tx, span: DeliverySpan): Promise<void> {
    const known = await readBusStream(tx)
    if (known === undefined) return
    const { lost, unstoredSince, ...stream } = known
    const isSent = (times: DeliverySpan) => span.since <= times.since && span.until >= times.until
    const isOpen =
      unstoredSince !== undefined && !isSent({ since: unstoredSince, until: this.#deps.clock.now() - MINUTE })
    const isLost = lost !== undefined && !isSent(lost)
    // While the bus still stores nothing, this is noted again.
    await recordBusStream(tx, { ...stream, ...(isOpen && { unstoredSince }), ...(isLost && { lost }) })
    if (lost === undefined || isLost) return
    await this.#deps.alerts.recoverIfRaised(tx, {
      ...LOSS_ALERT,
      title: 'The messages that the bus has lost are sent again',
      body: 'They wait in the outbox, or were sent.',
    })
  }

  pending(limit: number, without: readonly string[]): Promise<OutboxMessage[]> {
    return listPending(this.#deps.store.read, limit, without)
  }

  settle({ delivered, failed, refused }: Settlement): Promise<number[]> {
    const { store, clock } = this.#deps
    const seqs = [...delivered, ...failed, ...refused].map(({ seq }) => seq)
    return store.write(async (tx) => {
      const locked = await lockPending(tx, seqs)
      const isLocked = ({ seq }: { seq: number }) => locked.has(seq)
      await markDelivered(
        tx,
        delivered.filter(isLocked).map(({ seq }) => seq),
        clock.now(),
      )
      for (const message of failed.filter(isLocked))
        await markAttempt(tx, { seq: message.seq, ...failureOf(message), status: 'pending' })
      for (const message of refused.filter(isLocked)) await this.#markDead(tx, message)
      return seqs.filter((seq) => !locked.has(seq))
    })
  }

  /** Does not raise an alert: the owner of the outbox does, once for many messages. */
  async setAside(tx: Tx, refused: readonly UndeliveredMessage[]): Promise<boolean> {
    const { clock, logger } = this.#deps
    if (!(await hasRoomFor(tx, refused))) return false
    for (const message of refused) {
      await insertMessage(tx, newDeadMessage(message, clock.now(), failureOf(message)))
      tx.afterCommit(() => logger.error(refusalOf(message), REFUSED_FOR_GOOD))
    }
    return true
  }

  /** The number of pending messages, and when the oldest was written (epoch milliseconds). */
  async backlog(): Promise<{ pending: number; oldest: number | null }> {
    const { messages: pending = 0, oldest = null } = (await countPendingMessages(this.#deps.store.read)) ?? {}
    return { pending, oldest }
  }

  /** The message that waits for the bus longest; undefined if none does. */
  oldestPending(): Promise<OldestPending | undefined> {
    return readOldestPending(this.#deps.store.read)
  }

  /** The number of dead messages, and when the oldest was written (epoch milliseconds). */
  async deadLetters(): Promise<{ messages: number; oldest: number | null }> {
    return (await countDeadMessages(this.#deps.store.read)) ?? { messages: 0, oldest: null }
  }

  /** Removes one batch of the messages that were delivered before `before`; returns how many. */
  prune(before: number, limit: number): Promise<number> {
    return this.#deps.store.write((tx) => deleteDelivered(tx, before, limit))
  }

  async #insert(tx: Tx, message: Message): Promise<void> {
    await insertMessage(tx, message)
    tx.afterCommit(() => this.#deps.delivery.wake())
  }

  async #markDead(tx: Tx, message: Settlement['refused'][number]): Promise<void> {
    const { seq, id, subject, reason } = message
    const { logger, alerts } = this.#deps
    if (!(await markAttempt(tx, { seq, ...failureOf(message), status: 'dead' }))) return
    tx.afterCommit(() => logger.error(refusalOf(message), REFUSED_FOR_GOOD))
    // An event of an alert raises no alert: its event would be refused too.
    if (!isEventOf(ALERTS_DOMAIN, message)) await alerts.raise(tx, deadMessageAlert(id, subject, reason))
  }
}

async function hasRoomFor(tx: Tx, refused: readonly UndeliveredMessage[]): Promise<boolean> {
  const { messages = 0, bytes = 0 } = (await readDeadSize(tx, MAX_DEAD)) ?? {}
  const more = refused.reduce((total, { payload }) => total + Buffer.byteLength(payload), 0)
  return messages + refused.length <= MAX_DEAD && bytes + more <= MAX_DEAD_BYTES
}

function failureOf({ reason, fault }: UndeliveredMessage): Pick<Message, 'lastError' | 'cause'> {
  return { lastError: reason.slice(0, REASON_LENGTH), cause: fault ? { code: fault, values: {} } : null }
}

function refusalOf({ id, subject, reason }: UndeliveredMessage) {
  return { message_id: id, subject, reason }
}

function notDead({ status }: Message): AppError {
  return invalidTransition(`A ${status} message cannot be redriven; only a dead one can.`, status, [])
}

const deadAlarmId = (id: string) => declaredAlarmId(MESSAGE_ALERTS, 'message.dead:*', id)

function redrivenAlert({ id, subject }: Message): PlatformRecovery {
  const title = `A message on ${subject} is sent again`
  return { alarmId: deadAlarmId(id), source: SOURCE, title, body: `The message ${id} was redriven.` }
}

function deadMessageAlert(id: string, subject: string, reason: string): PlatformAlert {
  return {
    alarmId: deadAlarmId(id),
    source: SOURCE,
    title: `A message on ${subject} cannot be delivered`,
    body: `The bus refused message ${id}: ${reason.slice(0, REASON_LENGTH)}. Remove the cause, then redrive the message.`,
    severity: 'ERROR',
  }
}

/** When messages were delivered that the stream, which the bus has made at `madeAt`, lacks; undefined if it has all. */
async function findLost(
  tx: Tx,
  known: BusStreamMark | undefined,
  madeAt: number,
  now: number,
): Promise<LostSpan | undefined> {
  const kept = { since: Math.max(0, now - STREAM_KEEPS_MS), until: now }
  const isNew = known?.madeAt !== undefined && known.madeAt !== madeAt
  if (isNew && (await findDelivered(tx, { ...kept, until: madeAt }))) return kept
  if (known?.unstoredSince === undefined) return undefined
  // A clock that was set back since has left a time that says nothing.
  const since = known.unstoredSince > now ? kept.since : Math.max(kept.since, known.unstoredSince)
  const unstored = { since, until: now }
  return (await findDelivered(tx, unstored)) && { ...unstored, isUnstored: true }
}

function joinSpans(found: LostSpan, known: LostSpan | undefined): LostSpan {
  if (!known) return found
  const isUnstored = found.isUnstored === true && known.isUnstored === true
  return { since: Math.min(found.since, known.since), until: found.until, ...(isUnstored && { isUnstored }) }
}
