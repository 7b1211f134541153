import { setImmediate as yieldTurn, setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../kernel/clock.ts'
import { InterruptibleSleep } from '../../kernel/waiting.ts'
import { type Logger, createOutage, type Outage } from '../../kernel/logger.ts'
import { SECOND } from '../../kernel/time.ts'
import { encodeComment, encodeServerSentEvent } from '../../wire/event-stream.ts'
import type { StreamOutput } from '../../wire/stream.ts'
import { earlierOf, formatPlaces, type LogName, LOGS, type Places, type Subscription } from './model.ts'
import type { EventOrder, OrderedEvent } from './order.ts'

export interface EventFeedOptions {
  readonly order: EventOrder
  readonly clock: Clock
  readonly logger: Logger
  /** docs/specification.md, Live stream */
  readonly commentEveryMs?: number
}

const BATCH = 500
// The longest time until commits of other processes are read; a poll without new events takes some microseconds.
const POLL_MS = 25
const RETRY_MS = 500
// Each round is followed by a pause of twice its duration, so that requests are served while there are many readers.
const MAX_GAP_MS = 50
const COMMENT_MS = 15 * SECOND

/**
 * Reads new events once for all readers of the process. It runs only while there are readers. A reader behind the feed
 * first catches up: it gets pages that are read from the logs for it alone. When it has reached the place of the feed, it
 * joins, and gets each batch of the feed.
 */
export class EventFeed {
  readonly #options: EventFeedOptions
  readonly #outage: Outage
  readonly #readers = new Set<EventReader>()
  readonly #joined = new Set<EventReader>()
  readonly #pause = new InterruptibleSleep()
  /** Undefined until the feed has begun. */
  #places: Places | undefined
  #round = Promise.withResolvers<void>()
  #running: Promise<void> | undefined
  #isClosed = false

  constructor(options: EventFeedOptions) {
    this.#options = options
    this.#outage = createOutage(options.logger, 'eventStreams', { clock: options.clock })
  }

  /** Announces new events. Cheap: may be called for each event. */
  wake(): void {
    this.#pause.interrupt()
  }

  /** Sends events to a reader until its stream is over. */
  async follow(reader: EventReader): Promise<void> {
    this.#readers.add(reader)
    this.#running ??= this.#run()
    this.wake()
    try {
      while (!reader.isOver && !this.#join(reader)) await this.#catchUp(reader)
      await reader.over
    } finally {
      this.#readers.delete(reader)
      this.#joined.delete(reader)
      if (this.#readers.size === 0) this.wake()
    }
  }

  /** Resolves when the feed has stopped reading; may be called twice. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { commentEveryMs = COMMENT_MS } = this.#options
    const comments = setInterval(() => this.#comment(), commentEveryMs)
    while (this.#readers.size > 0 && !this.#isClosed) {
      const pauseMs = await this.#runRound()
      this.#round.resolve()
      this.#round = Promise.withResolvers()
      await this.#pause.sleep(pauseMs)
    }
    clearInterval(comments)
    this.#places = undefined
    this.#running = undefined
  }

  /** Returns the pause until the next round, in milliseconds. */
  async #runRound(): Promise<number> {
    const { order, clock } = this.#options
    try {
      this.#places ??= await order.newest()
      const start = clock.monotonic()
      await this.#readNew(this.#places)
      this.#outage.works()
      await delay(Math.min(2 * (clock.monotonic() - start), MAX_GAP_MS))
      return POLL_MS
    } catch (error) {
      this.#outage.fails(error)
      return RETRY_MS
    }
  }

  async #readNew(from: Places): Promise<void> {
    let places = from
    for (let isMore = true; isMore && !this.#isClosed;) {
      const { events, end, hasMore } = await this.#options.order.readAfter(places, LOGS, BATCH)
      this.#deliver(events)
      this.#places = places = end
      isMore = hasMore
    }
  }

  #deliver(events: readonly OrderedEvent[]): void {
    if (events.length === 0) return
    const selections = new Map<string, Buffer>()
    for (const reader of this.#joined) {
      reader.write(selections.getOrInsertComputed(reader.subscription.key, () => reader.encode(events)))
    }
  }

  /** Joins the reader if it is at the place of the feed; from then on it gets each batch. Returns whether it has joined. */
  #join(reader: EventReader): boolean {
    const places = this.#places
    if (!places || !reader.logs.every((log) => reader.places[log] === places[log])) return false
    this.#joined.add(reader)
    return true
  }

  /** Takes the reader one step closer to the feed. */
  async #catchUp(reader: EventReader): Promise<void> {
    const target = this.#places
    // The feed has no place yet, or the reader is ahead of the feed.
    if (!target || !reader.logs.some((log) => reader.places[log] < target[log]))
      return void (await Promise.race([this.#round.promise, reader.over]))
    try {
      await this.#readPage(reader, target)
    } catch (error) {
      this.#outage.fails(error)
      await Promise.race([this.#round.promise, reader.over])
    }
  }

  async #readPage(reader: EventReader, target: Places): Promise<void> {
    const { order } = this.#options
    const { logs, places, subscription } = reader
    const { events, end } = await order.readAfter(places, logs, BATCH, subscription.subjects)
    // Read after the page, because events that were removed before the page was read are missing in it.
    const removed = await order.removedUpTo()
    if (logs.some((log) => removed[log] > places[log])) return reader.reset(this.#places ?? target, 'removed')
    const isReached = ({ log, place }: OrderedEvent) => place <= target[log]
    await reader.catchUp(events.filter(isReached), earlierOf(end, target))
    // Other requests are served between the pages, of which there may be many without events for this reader.
    await yieldTurn()
  }

  #comment(): void {
    for (const reader of this.#readers) {
      if (this.#joined.has(reader)) reader.comment(this.#places)
      else reader.comment()
    }
  }
}

/** Why a stream cannot continue where its client stopped. */
export type ResetReason = 'unreadable' | 'removed'

// docs/specification.md, Live stream
const MAX_UNREAD_BYTES = 1_048_576
const MAX_DRAIN_MS = 30 * SECOND

export interface ReaderStart {
  readonly subscription: Subscription
  readonly logs: readonly LogName[]
  readonly places: Places
}

/** One stream: its subscription, its places while it catches up, and its client. */
export class EventReader {
  readonly subscription: Subscription
  /** The logs that the subscription has events of. */
  readonly logs: readonly LogName[]
  readonly #output: StreamOutput
  #places: Places

  constructor({ subscription, logs, places }: ReaderStart, output: StreamOutput) {
    this.subscription = subscription
    this.logs = logs
    this.#places = places
    this.#output = output
  }

  /** How far the reader has caught up with the feed; not updated after it has joined the feed. */
  get places(): Places {
    return this.#places
  }

  get isOver(): boolean {
    return this.#output.isOver
  }

  get over(): StreamOutput['over'] {
    return this.#output.over
  }

  /** Sends the current id, so that a client can also resume before it has received an event. */
  begin(): void {
    this.#output.write(encodeComment(this.#idOf(this.#places)))
  }

  /** Continues at these places, and tells the client that it may have missed events. */
  reset(places: Places, reason: ResetReason): void {
    this.#places = places
    const data = JSON.stringify({ reason })
    this.#output.write(encodeServerSentEvent({ id: this.#idOf(places), event: 'reset', data }))
  }

  /** Called without places while the reader catches up, because the client is behind the feed. */
  comment(places?: Places): void {
    this.write(encodeComment(places && this.#idOf(places)))
  }

  /** Writes a chunk, or closes the stream if its client has left more than a megabyte unread. */
  write(chunk: Uint8Array | string): void {
    if (this.#output.unreadBytes > MAX_UNREAD_BYTES) this.#output.cut()
    else if (chunk.length > 0) this.#output.write(chunk)
  }

  /** Writes what the subscription selects of the next events, and waits for the client to read it. */
  async catchUp(events: readonly OrderedEvent[], places: Places): Promise<void> {
    this.#output.write(this.encode(events))
    this.#places = places
    const limit = setTimeout(() => this.#output.cut(), MAX_DRAIN_MS)
    await this.#output.drained()
    clearTimeout(limit)
  }

  /** Encodes what the subscription selects. The result is the same for all readers with this subscription. */
  encode(events: readonly OrderedEvent[]): Buffer {
    const selected = events.filter(({ subject }) => this.subscription.matches(subject))
    const encoded = selected.map(({ position, subject, payload }) =>
      encodeServerSentEvent({ id: this.#idOf(position), event: subject, data: payload }),
    )
    return Buffer.from(encoded.join(''))
  }

  #idOf(places: Places): string {
    return formatPlaces(places, this.logs)
  }
}
