import { AppError } from '../../kernel/errors.ts'
import type { Identity } from '../../kernel/identity.ts'
import type { Counter } from '../../kernel/metrics.ts'
import type { DeclaredSubject } from '../../kernel/events.ts'
import type { ServiceDeps } from '../../store/store.ts'
import type { StreamBody, StreamEnd } from '../../wire/stream.ts'
import { EventFeed, EventReader, type ReaderStart, type ResetReason } from './feed.ts'
import { LOGS, parsePlaces, subscribe, type LogName, type Subscription } from './model.ts'
import { EventOrder, type EventLogs } from './order.ts'

/** The subjects of the events of each log. */
export type SubjectsByLog = Readonly<Record<LogName, readonly DeclaredSubject[]>>

/** What the live stream needs of the rest of the platform. */
export interface LiveEventsDeps extends Omit<ServiceDeps, 'store'> {
  readonly logs: EventLogs
  readonly subjects: SubjectsByLog
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

interface StreamStart extends ReaderStart {
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
  readonly #order: EventOrder
  readonly #feed: EventFeed
  readonly #ended: Counter
  #open = 0

  constructor(deps: LiveEventsDeps) {
    const { logs, metrics } = deps
    this.#deps = deps
    this.#order = new EventOrder(logs)
    this.#feed = new EventFeed({ ...deps, order: this.#order })
    this.#ended = metrics.counter({
      name: 'event_streams_ended_total',
      help: 'Streams of events that have ended, by reason; `slow`: the client did not read.',
      labels: { reason: STREAM_ENDS },
    })
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
    const subscription = subscribe(Object.values(this.#deps.subjects).flat(), subjects, identity)
    this.#reserve()
    try {
      const start = await this.#startAt(lastEventId, subscription)
      return async (output) => {
        try {
          if (output.isOver) return
          await this.#feed.follow(beginStream(new EventReader(start, output), start))
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

  async #startAt(lastEventId: string | undefined, subscription: Subscription): Promise<StreamStart> {
    const logs = LOGS.filter((log) => subscription.overlaps(this.#deps.subjects[log]))
    const newest = await this.#order.newest()
    const start = { subscription, logs, places: newest }
    // A client that has received no event may send an empty header.
    if (!lastEventId) return start
    const resumed = parsePlaces(lastEventId, logs)
    const places = { ...newest, ...resumed }
    // An id with a place that does not exist yet comes from another database.
    if (!resumed || LOGS.some((log) => places[log] > newest[log])) return { ...start, reset: 'unreadable' }
    const removed = await this.#order.removedUpTo()
    if (LOGS.some((log) => places[log] < removed[log])) return { ...start, reset: 'removed' }
    return { ...start, places }
  }
}

function beginStream(reader: EventReader, { places, reset }: StreamStart): EventReader {
  if (reset) reader.reset(places, reset)
  else reader.begin()
  return reader
}

function tooManyStreams(limit: number): AppError {
  const message = `There are ${limit} streams already; try again later.`
  return new AppError('unavailable', 'too_many_streams', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}
