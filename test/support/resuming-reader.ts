import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '../../src/kernel/waiting.ts'
import {
  openEventStream,
  type EventStreamClient,
  type OpenStreamOptions,
  type SeenEvent,
} from './event-stream.ts'

// A thousand readers that connected again at once would keep a server from starting.
const RECONNECT = { initialMs: 20, maximumMs: 2_000 }

/** A client of the live stream that resumes by the id of its last event whenever its connection ends. */
export class ResumingReader implements AsyncDisposable {
  readonly events: SeenEvent[] = []
  #url: string
  #stream: EventStreamClient | undefined
  #connection = new AbortController()
  #lastEventId: string | undefined
  readonly #stop = new AbortController()
  readonly #running: Promise<void>

  constructor(url: string, path: string, options: OpenStreamOptions = {}) {
    this.#url = url
    this.#lastEventId = options.lastEventId
    this.#running = this.#run(path, options)
  }

  /** Where it connects to the next time. */
  set url(url: string) {
    this.#url = url
  }

  /** Closes the connection without ending the request, as a killed client does. */
  kill(): void {
    this.#connection.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.kill()
    await this.#running
  }

  async #run(path: string, options: OpenStreamOptions): Promise<void> {
    const { signal } = this.#stop
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        if (await this.#readOnce(path, options)) failures = 0
      } catch {
        // The server is away.
      }
      await pause(backoffMs(RECONNECT, failures), undefined, { signal }).catch(() => undefined)
    }
  }

  /** Reads until the connection ends; `false` when the server has refused it. */
  async #readOnce(path: string, options: OpenStreamOptions): Promise<boolean> {
    const lastEventId = this.#lastEventId
    this.#connection = new AbortController()
    const { signal } = this.#connection
    using stream = await openEventStream(this.#url, path, { ...options, lastEventId, signal })
    if (stream.status !== 200) return false
    this.#stream = stream
    await stream.ended
    this.events.push(...stream.events)
    if (stream.lastEventId !== '') this.#lastEventId = stream.lastEventId
    return true
  }

  /** All events so far, with those of the open connection. */
  get seen(): readonly SeenEvent[] {
    return this.#stream && !this.#stream.isOver ? [...this.events, ...this.#stream.events] : this.events
  }
}
