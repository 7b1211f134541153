import { signal } from '@preact/signals'
import { eventsIn, StreamParser, type StreamEvent } from '../../clients/typescript/src/event-stream.ts'
import { Watchdog } from '../../clients/typescript/src/timing.ts'
import { pauseAfter } from './poll.ts'

export interface ExecutionOutputDeps {
  /** Opens the stream after the event with this id; from the beginning if the id is empty. */
  readonly open: (lastEventId: string, signal: AbortSignal) => Promise<Response>
  /** Ends early, without an error, when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  /** The output has begun, or the execution has ended. */
  readonly onNews: () => void
}

// The platform sends a comment every 15 seconds.
const SILENCE_LIMIT_MS = 45_000
// After these statuses another connection would be refused, too.
const FINAL = new Set([401, 403, 404])

// The most characters that the platform keeps.
const LONGEST = 65_536

/** Follows the output of an execution to its end. A stream that breaks is resumed behind the last part that was read. */
export class ExecutionOutput {
  readonly text = signal('')
  /** Whether the beginning of the output is missing. */
  readonly isCut = signal(false)
  readonly #deps: ExecutionOutputDeps
  readonly #parser = new StreamParser()

  constructor(deps: ExecutionOutputDeps) {
    this.#deps = deps
  }

  async follow(stopped: AbortSignal): Promise<void> {
    for (let failures = 0; !stopped.aborted; failures++) {
      if (await this.#connect(stopped, () => (failures = 0))) return
      await this.#deps.wait(pauseAfter(failures), stopped)
    }
  }

  /** Reads one connection; true if there is nothing more to read. */
  async #connect(stopped: AbortSignal, onBytes: () => void): Promise<boolean> {
    this.#parser.restart()
    const silence = new Watchdog(SILENCE_LIMIT_MS)
    try {
      const response = await this.#deps.open(
        this.#parser.lastEventId,
        AbortSignal.any([stopped, silence.signal]),
      )
      if (!response.ok || !response.body) return FINAL.has(response.status)
      return await this.#read(response.body, () => {
        silence.reset()
        onBytes()
      })
    } catch {
      // The connection is broken, silent or stopped: the loop of `follow` continues or ends.
      return false
    } finally {
      silence.stop()
    }
  }

  /** True at the end of the execution. */
  async #read(body: ReadableStream<Uint8Array>, onBytes: () => void): Promise<boolean> {
    for await (const event of eventsIn(body, this.#parser, onBytes)) if (this.#take(event)) return true
    return false
  }

  /** True at the end of the execution. */
  #take({ event, data: json }: StreamEvent): boolean {
    const data = parseData(json)
    const isEnd = event === 'end'
    if (isEnd || this.text.peek() === '') this.#deps.onNews()
    if (isPart(data)) {
      const text = this.text.peek() + data.text
      if (data.skipped !== undefined || text.length > LONGEST) this.isCut.value = true
      this.text.value = text.slice(-LONGEST)
    }
    return isEnd
  }
}

interface OutputPart {
  readonly text: string
  /** How many characters before it are not kept. */
  readonly skipped?: number
}

function isPart(data: unknown): data is OutputPart {
  return typeof data === 'object' && data !== null && 'text' in data && typeof data.text === 'string'
}

function parseData(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
