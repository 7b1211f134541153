import { setTimeout as pause } from 'node:timers/promises'
import {
  openEventStream,
  type EventStreamClient,
  type OpenStreamOptions,
  type SeenEvent,
} from './event-stream.ts'

const RECONNECT_MS = 20

/** A client of the live stream that resumes by the id of its last event whenever its connection ends. */
export class ResumingReader implements AsyncDisposable {
  readonly events: SeenEvent[] = []
  #url: string
  #stream: EventStreamClient | undefined
  #lastEventId: string | undefined
  #isStopped = false
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
    this.#stream?.[Symbol.dispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    this.kill()
    await this.#running
  }

  async #run(path: string, options: OpenStreamOptions): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#readOnce(path, options)
      } catch {
        // The server is away.
      }
      await pause(RECONNECT_MS)
    }
  }

  async #readOnce(path: string, options: OpenStreamOptions): Promise<void> {
    const lastEventId = this.#lastEventId
    using stream = await openEventStream(this.#url, path, { ...options, lastEventId })
    if (stream.status !== 200) return
    this.#stream = stream
    if (this.#isStopped) return
    await stream.ended
    this.events.push(...stream.events)
    if (stream.lastEventId !== '') this.#lastEventId = stream.lastEventId
  }

  /** All events so far, with those of the open connection. */
  get seen(): readonly SeenEvent[] {
    return this.#stream && !this.#stream.isOver ? [...this.events, ...this.#stream.events] : this.events
  }
}
