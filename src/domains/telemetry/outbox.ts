import { PUBLISHED_BYTES } from '../../kernel/bus.ts'
import { EVENT_HEADERS, toCloudEvent } from '../../kernel/events.ts'
import { DAY, toRfc3339 } from '../../kernel/time.ts'
import { storedTraceHeaders } from '../../kernel/trace.ts'
import { declaredAlarmId } from '../../kernel/alerts.ts'
import type { PlatformAlert, PlatformRecovery, RecoverableAlerts } from '../../ports/alerts.ts'
import type { PositionedEvent, PositionedLog } from '../../ports/events.ts'
import type {
  DeadLetters,
  Outbox,
  OutboxMessage,
  Settlement,
  UndeliveredMessage,
} from '../../ports/outbox.ts'
import type { ServiceDeps, Tx } from '../../store/store.ts'
import { BATCH_BYTES, countWithin } from '../../store/pages.ts'
import { waitForWriters } from '../../store/numbers.ts'
import {
  agentOf,
  coversAllAgents,
  eventIdOf,
  MAX_ITEMS,
  placeOf,
  subjectOf,
  TELEMETRY_ALERTS,
  uploadOf,
} from './model.ts'
import {
  findNewestBefore,
  findRefusedAgent,
  listPendingTelemetry,
  listUploadsFrom,
  lockPendingTelemetry,
  markRefusedAgents,
  markTelemetryDelivered,
  markTelemetrySent,
  readTotals,
  readUploads,
  subtractFromTotals,
  type StoredUpload,
  type UploadSize,
} from './store.ts'

export interface TelemetryOutboxDeps extends Pick<ServiceDeps, 'store' | 'clock'> {
  readonly alerts: RecoverableAlerts
  readonly deadLetters: DeadLetters
}

const SOURCE = '/platform/telemetry'
const REASON_LENGTH = 500

/**
 * Provides each item of the uploads as one event. An item that the bus refuses for good becomes a dead message, or waits
 * while there are too many of these: no accepted item is dropped. The numbers of waiting and of dead items are limited.
 */
export class TelemetryOutbox implements Outbox, PositionedLog {
  readonly #deps: TelemetryOutboxDeps

  constructor(deps: TelemetryOutboxDeps) {
    this.#deps = deps
  }

  /** Returns whole uploads, so the result may exceed `limit` by the items of one upload. */
  async pending(limit: number, without: readonly string[]): Promise<OutboxMessage[]> {
    if (without.some(coversAllAgents)) return []
    const { read } = this.#deps.store
    const agents = without.flatMap((subject) => agentOf(subject) ?? [])
    const sizes = await listPendingTelemetry(read, limit, agents)
    const rows = await readUploads(read, startOf(sizes, limit, PUBLISHED_BYTES))
    return rows.flatMap((upload) => messagesOf(upload, upload.sent))
  }

  settle({ delivered, failed, refused }: Settlement): Promise<number[]> {
    const taken = [...delivered, ...refused]
    return this.#deps.store.write(async (tx) => {
      const uploads = await this.#lock(tx, taken)
      const dead = withoutFollowersOf(refused, failed).filter((message) => isOpen(message, uploads))
      const waiting = (await this.#setAside(tx, dead)) ? failed : [...failed, ...dead]
      const settled = new Set(
        withoutFollowersOf(taken, waiting).flatMap(({ seq }) =>
          uploads.has(uploadOf(seq).seq) ? [seq] : [],
        ),
      )
      // Rows are locked in the same order as by an upload: the agents, then the totals.
      await this.#judgeAgents(tx, delivered, refused)
      await this.#settleUploads(tx, [...uploads.values()], progressOf([...settled]))
      return taken.flatMap(({ seq }) => (settled.has(seq) ? [] : [seq]))
    })
  }

  /** Recovers the alert about agents of which nothing is sent any more. */
  endAlert(): Promise<void> {
    return this.#deps.store.write((tx) => this.#endAlert(tx))
  }

  async readAfter(after: number, limit: number): Promise<PositionedEvent[]> {
    const { read } = this.#deps.store
    const next = uploadOf(after + 1)
    // One upload more than needed, because all items of the first one may have been read already.
    const sizes = await listUploadsFrom(read, next.seq, limit + 1)
    const unread = sizes
      .map((size) => ({ ...size, sent: size.seq === next.seq ? next.index : 0 }))
      .filter(({ items, sent }) => sent < items)
    const rows = await readUploads(read, startOf(unread, limit, BATCH_BYTES))
    return rows.flatMap((upload) => eventsOf(upload, upload.seq === next.seq ? next.index : 0))
  }

  async newestPlace(message: number): Promise<number> {
    const newest = await findNewestBefore(this.#deps.store.read, message)
    return newest ? placeOf(newest.seq, newest.items - 1) : this.removedUpTo()
  }

  async removedUpTo(): Promise<number> {
    const { removedUpTo } = await readTotals(this.#deps.store.read)
    return removedUpTo === 0 ? 0 : placeOf(removedUpTo, MAX_ITEMS - 1)
  }

  // An upload updates the totals before it reads the newest message.
  waitForTransactions(): Promise<void> {
    return waitForWriters(this.#deps.store.read, 'telemetry_totals')
  }

  /** The uploads of these messages that are still pending, by their numbers. */
  async #lock(tx: Tx, messages: readonly OutboxMessage[]): Promise<ReadonlyMap<number, UploadSize>> {
    const seqs = new Set(messages.map(({ seq }) => uploadOf(seq).seq))
    const locked = await lockPendingTelemetry(tx, [...seqs])
    return new Map(locked.map((each) => [each.seq, each]))
  }

  /** Returns false if there are too many dead messages. */
  async #setAside(tx: Tx, dead: readonly UndeliveredMessage[]): Promise<boolean> {
    if (dead.length === 0) return true
    const isDone = await this.#deps.deadLetters.setAside(tx, dead)
    await this.#deps.alerts.raise(tx, refusedAlert(dead, isDone ? ARE_DEAD : WAIT))
    return isDone
  }

  /** Remembers the agents whose telemetry was refused, until the bus takes telemetry of theirs. */
  async #judgeAgents(
    tx: Tx,
    delivered: readonly OutboxMessage[],
    refused: readonly OutboxMessage[],
  ): Promise<void> {
    if (await findRefusedAgent(tx, 0, Number.MAX_SAFE_INTEGER))
      await markRefusedAgents(tx, agentsOf(delivered), null)
    await markRefusedAgents(tx, agentsOf(refused), this.#deps.clock.now())
    if (delivered.length > 0) await this.#endAlert(tx)
  }

  /** Ends the alert when no item was refused for a day. */
  async #endAlert(tx: Tx): Promise<void> {
    const now = this.#deps.clock.now()
    if (await findRefusedAgent(tx, now - DAY, now)) return
    await this.#deps.alerts.recoverIfRaised(tx, ACCEPTED_AGAIN)
  }

  async #settleUploads(
    tx: Tx,
    locked: readonly UploadSize[],
    progress: ReadonlyMap<number, number>,
  ): Promise<void> {
    const sentOf = ({ seq, sent }: UploadSize) => Math.max(sent, progress.get(seq) ?? 0)
    const { done = [], partial = [] } = Object.groupBy(locked, (each) =>
      sentOf(each) >= each.items ? 'done' : 'partial',
    )
    for (const each of partial)
      if (sentOf(each) > each.sent) await markTelemetrySent(tx, each.seq, sentOf(each))
    if (done.length === 0) return
    const seqs = done.map(({ seq }) => seq)
    await markTelemetryDelivered(tx, seqs, this.#deps.clock.now())
    await subtractFromTotals(tx, sum(done, 'items'), sum(done, 'bytes'), 0)
  }
}

/** The first uploads until they have `limit` items, or too many bytes; at least one. */
function startOf(sizes: readonly UploadSize[], limit: number, limitBytes: number): number[] {
  const seqs: number[] = []
  let items = 0
  for (const each of sizes.slice(0, countWithin(sizes, limitBytes))) {
    if (items >= limit) break
    items += Math.max(0, each.items - each.sent)
    seqs.push(each.seq)
  }
  return seqs
}

function messagesOf(
  { seq, id, agentId, acceptedAt, content, trace }: StoredUpload,
  from: number,
): OutboxMessage[] {
  const traceHeaders = storedTraceHeaders(trace)
  const type = subjectOf(agentId)
  const event = { source: SOURCE, type, subject: agentId, time: toRfc3339(acceptedAt) }
  return content
    .split('\n')
    .map((data, index) => {
      const itemId = eventIdOf(id, index)
      const payload = toCloudEvent({ ...event, id: itemId }, data, traceHeaders)
      return {
        seq: placeOf(seq, index),
        id: itemId,
        subject: type,
        payload,
        headers: EVENT_HEADERS,
        traceHeaders,
      }
    })
    .slice(from)
}

function eventsOf(upload: StoredUpload, from: number): PositionedEvent[] {
  const { afterMessage } = upload
  const messages = messagesOf(upload, from)
  return messages.map(({ seq: place, subject, payload }) => ({ place, subject, payload, afterMessage }))
}

/**
 * The messages that come before the first waiting one of their subject; the others are sent again after it, in their order.
 */
function withoutFollowersOf<M extends OutboxMessage>(
  messages: readonly M[],
  waiting: readonly OutboxMessage[],
): M[] {
  const firsts = new Map<string, number>()
  for (const { subject, seq } of waiting) firsts.set(subject, Math.min(seq, firsts.get(subject) ?? seq))
  return messages.filter(({ subject, seq }) => seq < (firsts.get(subject) ?? Infinity))
}

/** Whether the result of an item is not recorded yet. */
function isOpen(message: OutboxMessage, uploads: ReadonlyMap<number, UploadSize>): boolean {
  const { seq, index } = uploadOf(message.seq)
  return index >= (uploads.get(seq)?.sent ?? Infinity)
}

/** How many items of each upload are delivered or dead, from the first one on; the key is the number of the upload. */
function progressOf(places: readonly number[]): ReadonlyMap<number, number> {
  const progress = new Map<number, number>()
  for (const { seq, index } of places.map(uploadOf))
    progress.set(seq, Math.max(progress.get(seq) ?? 0, index + 1))
  return progress
}

function sum(sizes: readonly UploadSize[], of: 'items' | 'bytes'): number {
  return sizes.reduce((total, size) => total + size[of], 0)
}

const ARE_DEAD =
  'What it refused is in GET /messages?status=dead. Remove the cause, and redrive the messages.'
const WAIT =
  'Too many messages are dead, so these items are sent again, and the later ones of their agents wait. Remove the cause, ' +
  'and redrive the dead messages.'

const agentsOf = (messages: readonly OutboxMessage[]): string[] => [
  ...new Set(messages.flatMap(({ subject }) => agentOf(subject) ?? [])),
]

const ALERT = {
  alarmId: declaredAlarmId(TELEMETRY_ALERTS, 'telemetry.refused'),
  source: 'platform.telemetry',
} as const

const ACCEPTED_AGAIN: PlatformRecovery = {
  ...ALERT,
  title: 'The bus takes telemetry again',
  body: 'It has taken telemetry of the agents whose telemetry it had refused.',
}

function refusedAlert(refused: readonly UndeliveredMessage[], consequence: string): PlatformAlert {
  const [first] = refused
  const agents = new Set(refused.map(({ subject }) => agentOf(subject)))
  const others = agents.size > 1 ? ` and ${agents.size - 1} more` : ''
  return {
    ...ALERT,
    title: 'The bus refuses telemetry',
    body:
      `The bus refused telemetry of the agent ${[...agents][0]}${others}: ${first?.reason.slice(0, REASON_LENGTH)}. ` +
      consequence,
    severity: 'ERROR',
  }
}
