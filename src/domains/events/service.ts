import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Identity } from '../../kernel/identity.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { StreamBody, StreamEnd } from '../../wire/stream.ts'
import { EventFeed } from './feed.ts'
import { parsePlaces, subscribe, type DeclaredSubject, type Places, type Subscription } from './model.ts'
import { EventReader, type ResetReason } from './reader.ts'

/** A log, and the subjects of its events. */
export interface EventSource {
  readonly log: EventLog
  readonly subjects: readonly DeclaredSubject[]
}

/** What the live stream needs of the rest of the platform. */
export interface LiveEventsDeps {
  /** The order must never change: the id of an event is the list of the places in these sources. */
  readonly sources: readonly EventSource[]
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** How many streams may be open at the same time. */
  readonly limit?: number
  readonly commentEveryMs?: number
}

export interface StreamRequest {
  readonly identity: Identity
  /** All that the caller may read if left out. */
  readonly subjects?: readonly string[] | undefined
  /** As the client sends it. */
  readonly lastEventId?: string | undefined
}

interface Start {
  readonly places: Places
  /** Set when the client has missed events, or may have. */
  readonly reset?: ResetReason
}

// docs/specification.md, Live stream
const STREAM_LIMIT = 1_000
const RETRY_AFTER_SECONDS = 5

const STREAM_ENDS = ['client', 'slow', 'token', 'shutdown'] as const satisfies readonly StreamEnd[]

/** The live stream of the committed events of all domains. */
export class LiveEvents {
  readonly #deps: LiveEventsDeps
  readonly #declared: readonly DeclaredSubject[]
  readonly #feed: EventFeed
  readonly #ended: Counter
  #open = 0

  constructor(deps: LiveEventsDeps) {
    const { sources, metrics } = deps
    this.#deps = deps
    this.#declared = sources.flatMap(({ subjects }) => subjects)
    this.#feed = new EventFeed({ ...deps, logs: sources.map(({ log }) => log) })
    this.#ended = metrics.counter({
      name: 'event_streams_ended_total',
      help: 'Streams of events that have ended, by reason; `slow`: the client did not read.',
      labels: ['reason'],
    })
    for (const reason of STREAM_ENDS) this.#ended.increment({ reason }, 0)
    const open = metrics.gauge({ name: 'event_streams', help: 'Open streams of events.' })
    metrics.onScrape(() => open.set(this.#open), [open])
  }

  /** Announces committed events. */
  wake(): void {
    this.#feed.wake()
  }

  /** Resolves when the feed has stopped reading. Call it after the streams have ended; may be called twice. */
  close(): Promise<void> {
    return this.#feed.close()
  }

  /**
   * Begins a stream. Rejects with `validation_failed` for a subject that no event has, with `forbidden` for one that the
   * caller may not read, and with `too_many_streams`.
   */
  async open({ identity, subjects, lastEventId }: StreamRequest): Promise<StreamBody> {
    const subscription = subscribe(this.#declared, subjects, identity)
    this.#reserve()
    try {
      const start = await this.#startAt(lastEventId, subscription)
      return async (output) => {
        try {
          if (output.isOver) return
          await this.#feed.follow(beginStream(new EventReader(subscription, start.places, output), start))
          this.#ended.increment({ reason: await output.over })
        } finally {
          this.#open--
        }
      }
    } catch (error) {
      this.#open--
      throw error
    }
  }

  #reserve(): void {
    const { limit = STREAM_LIMIT } = this.#deps
    if (this.#open >= limit) throw tooManyStreams(limit)
    this.#open++
  }

  async #startAt(lastEventId: string | undefined, subscription: Subscription): Promise<Start> {
    const { sources } = this.#deps
    const newest = await Promise.all(sources.map(({ log }) => log.newestPlace()))
    // A client that has received no event may send an empty header.
    if (!lastEventId) return { places: newest }
    const given = parsePlaces(lastEventId, sources.length)
    // Logs without events of the subscription do not matter.
    const places =
      given && newest.map((place, log) => (this.#isRead(log, subscription) ? (given[log] ?? 0) : place))
    // An id with a place that does not exist yet comes from another database.
    if (!places || places.some((place, log) => place > (newest[log] ?? 0)))
      return { places: newest, reset: 'unreadable' }
    const removed = await Promise.all(sources.map(({ log }) => log.removedUpTo()))
    return places.some((place, log) => place < (removed[log] ?? 0))
      ? { places: newest, reset: 'removed' }
      : { places }
  }

  #isRead(log: number, subscription: Subscription): boolean {
    return subscription.overlaps(this.#deps.sources[log]?.subjects ?? [])
  }
}

function beginStream(reader: EventReader, { places, reset }: Start): EventReader {
  if (reset) reader.reset(places, reset)
  else reader.begin()
  return reader
}

function tooManyStreams(limit: number): AppError {
  const message = `There are ${limit} streams already; try again later.`
  return new AppError('unavailable', 'too_many_streams', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}
