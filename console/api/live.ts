import { signal } from '@preact/signals'
import { eventsIn, StreamParser } from '../../clients/typescript/src/event-stream.ts'
import { Watchdog } from '../../clients/typescript/src/timing.ts'
import { liveEventOf, type LiveEvent } from './event-stream.ts'
import { pauseAfter } from './poll.ts'

/** `off` is final: the user may read no events. */
export type LiveState = 'connecting' | 'live' | 'broken' | 'off'

export interface LiveDeps {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>
  /** Ends early, without an error, when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  readonly onRefused: (token: string) => void
  /** Gets what a listener has thrown. */
  readonly onError: (error: unknown) => void
}

export interface LiveListener {
  /** The beginning of the subjects, such as `order.`. */
  readonly prefix: string
  readonly onEvent: (event: LiveEvent) => void
  /** Events were missed: read again. */
  readonly onGap: () => void
  /** The stream is there again: what could not be read meanwhile can be read now. */
  readonly onReturn: () => void
}

// The platform sends a comment every 15 seconds.
const SILENCE_LIMIT_MS = 40_000
// The longest time of a timer.
const UNTIL_RESUMED_MS = 2 ** 31 - 1

/** Follows the events of the platform. A stream that breaks is resumed behind the last event that was read. */
export class LiveEvents {
  readonly state = signal<LiveState>('connecting')
  readonly #deps: LiveDeps
  readonly #listeners = new Set<LiveListener>()
  #woken = new AbortController()
  #paused = new AbortController()
  /** Whether events may have passed since the last connection. */
  #isBehind = false
  #hasFollowed = false

  constructor(deps: LiveDeps) {
    this.#deps = deps
  }

  /** Returns what ends the subscription. */
  subscribe(listener: LiveListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Follows with this token until the signal aborts, or the token is refused. A second token reads everything again,
   * because calls with the first one may have been refused when it had expired.
   */
  async follow(token: string, stopped: AbortSignal): Promise<void> {
    const parser = new StreamParser()
    this.state.value = 'connecting'
    this.#isBehind = this.#hasFollowed
    this.#hasFollowed = true
    for (let failures = 0; !stopped.aborted; failures++) {
      if (await this.#connect(token, parser, stopped, () => (failures = 0))) return
      if (stopped.aborted) return
      this.#isBehind = true
      const isPaused = this.#paused.signal.aborted
      if (isPaused) failures = -1
      this.state.value = isPaused ? 'connecting' : 'broken'
      this.#woken = new AbortController()
      const pauseMs = isPaused ? UNTIL_RESUMED_MS : pauseAfter(failures)
      await this.#deps.wait(pauseMs, AbortSignal.any([stopped, this.#woken.signal]))
    }
  }

  /**
   * Gives the connection up until `resume`. For a page that nobody sees: a browser opens six connections to a host, and
   * pages that keep theirs leave none to the others.
   */
  pause(): void {
    this.#paused.abort()
  }

  /** Connects again after `pause`, behind the last event; tries again now if the stream is broken. */
  resume(): void {
    if (this.#paused.signal.aborted) this.#paused = new AbortController()
    this.#woken.abort()
  }

  /** Reads one connection to its end; true if another one would be refused, too. */
  async #connect(
    token: string,
    parser: StreamParser,
    stopped: AbortSignal,
    onBytes: () => void,
  ): Promise<boolean> {
    parser.restart()
    const silence = new Watchdog(SILENCE_LIMIT_MS)
    try {
      const response = await this.#deps.fetch('/events', {
        headers: {
          authorization: `Bearer ${token}`,
          ...(parser.lastEventId && { 'last-event-id': parser.lastEventId }),
        },
        cache: 'no-store',
        signal: AbortSignal.any([stopped, silence.signal, this.#paused.signal]),
      })
      if (response.status === 401 || response.status === 403)
        return this.#handleRefusal(response.status, token)
      if (!response.ok || !response.body) return false
      this.#handleOpen(parser)
      await this.#read(response.body, parser, () => {
        silence.reset()
        onBytes()
      })
      return false
    } catch {
      // The connection is broken, stopped, paused or silent: the loop of `follow` continues or ends.
      return false
    } finally {
      silence.stop()
    }
  }

  #handleRefusal(status: 401 | 403, token: string): true {
    if (status === 401) {
      this.#deps.onRefused(token)
      return true
    }
    this.state.value = 'off'
    if (this.#isBehind) this.#notifyGap()
    return true
  }

  #handleOpen({ lastEventId }: StreamParser): void {
    this.state.value = 'live'
    if (!this.#isBehind) return
    // Without a place to resume from, nothing says what happened meanwhile.
    if (lastEventId === '') this.#notifyGap()
    else this.#tell(({ onReturn }) => onReturn())
  }

  async #read(body: ReadableStream<Uint8Array>, parser: StreamParser, onBytes: () => void): Promise<void> {
    for await (const event of eventsIn(body, parser, onBytes)) this.#deliver(liveEventOf(event))
  }

  #deliver(event: LiveEvent): void {
    if (event.subject === 'reset') return this.#notifyGap()
    this.#tell(({ prefix, onEvent }) => event.subject.startsWith(prefix) && onEvent(event))
  }

  #notifyGap(): void {
    this.#tell(({ onGap }) => onGap())
  }

  /** An error of one listener keeps nothing from the others, and does not end the connection. */
  #tell(call: (listener: LiveListener) => unknown): void {
    for (const listener of this.#listeners) {
      try {
        call(listener)
      } catch (error) {
        this.#deps.onError(error)
      }
    }
  }
}
