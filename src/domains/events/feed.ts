import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../kernel/clock.ts'
import { InterruptibleSleep } from '../../kernel/interruptible-sleep.ts'
import type { Logger } from '../../kernel/logger.ts'
import { createOutage, type Outage } from '../../kernel/outage.ts'
import { SECOND } from '../../kernel/time.ts'
import type { EventLog, LoggedEvent } from '../../ports/event-log.ts'
import type { Places } from './model.ts'
import { encodeEvents, type EventReader } from './reader.ts'

export interface EventFeedOptions {
  readonly logs: readonly EventLog[]
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
    this.#outage = createOutage(
      options.logger,
      {},
      { fails: 'events cannot be read; streams wait', worksAgain: 'events can be read again' },
    )
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
    const { logs, clock } = this.#options
    try {
      this.#places ??= await Promise.all(logs.map((log) => log.newestPlace()))
      const start = clock.monotonic()
      for (const log of logs.keys()) await this.#readLog(log)
      this.#outage.works()
      await delay(Math.min(2 * (clock.monotonic() - start), MAX_GAP_MS))
      return POLL_MS
    } catch (error) {
      this.#outage.fails(error)
      return RETRY_MS
    }
  }

  async #readLog(log: number): Promise<void> {
    for (let isMore = true; isMore && !this.#isClosed;) {
      const ahead = this.#highestPlace(log)
      const events = await this.#logOf(log).readAfter(this.#placeOf(log), BATCH)
      if (events.length === 0) this.#skipTo(log, ahead)
      this.#deliver(events, log)
      isMore = events.length >= BATCH
    }
  }

  /** The highest place of a reader. A new reader begins at the newest place, which may be ahead of the feed. */
  #highestPlace(log: number): number {
    return Math.max(0, ...[...this.#readers].map(({ places }) => places[log] ?? 0))
  }

  /** Moves the feed to a place when there is no event before it: other messages of the log may be there. */
  #skipTo(log: number, place: number): void {
    if (place > this.#placeOf(log)) this.#places = this.#places?.with(log, place)
  }

  #deliver(events: readonly LoggedEvent[], log: number): void {
    const last = events.at(-1)
    if (!last || !this.#places) return
    const encoded = encodeEvents(events, this.#places, log)
    this.#places = this.#places.with(log, last.place)
    const selections = new Map<string, Buffer>()
    for (const reader of this.#joined) {
      reader.write(selections.getOrInsertComputed(reader.subscription.key, () => reader.select(encoded)))
    }
  }

  /** Joins the reader if it is at the place of the feed; from then on it gets each batch. Returns whether it has joined. */
  #join(reader: EventReader): boolean {
    const places = this.#places
    if (!places?.every((place, log) => reader.places[log] === place)) return false
    this.#joined.add(reader)
    return true
  }

  /** Takes the reader one step closer to the feed. */
  async #catchUp(reader: EventReader): Promise<void> {
    const log = this.#places?.findIndex((place, index) => (reader.places[index] ?? 0) < place) ?? -1
    // The feed has no place yet, or the reader is ahead of it.
    if (log === -1) return void (await Promise.race([this.#round.promise, reader.over]))
    try {
      await this.#readPage(reader, log)
    } catch (error) {
      this.#outage.fails(error)
      await Promise.race([this.#round.promise, reader.over])
    }
  }

  async #readPage(reader: EventReader, log: number): Promise<void> {
    const target = this.#placeOf(log)
    const from = reader.places[log] ?? 0
    const page = await this.#logOf(log).readAfter(from, BATCH)
    // Read after the page: events that were removed before the page was read are missing in it.
    if ((await this.#logOf(log).removedUpTo()) > from) return reader.reset(this.#places ?? [], 'removed')
    const events = page.filter(({ place }) => place <= target)
    const isLast = events.length < page.length || page.length === 0
    await reader.catchUp(events, log, isLast ? target : (events.at(-1)?.place ?? target))
  }

  #comment(): void {
    for (const reader of this.#readers) {
      if (this.#joined.has(reader)) reader.comment(this.#places)
      else reader.comment()
    }
  }

  #logOf(log: number): EventLog {
    return this.#options.logs[log] as EventLog
  }

  #placeOf(log: number): number {
    return this.#places?.[log] ?? 0
  }
}
