import { pauseAfter, TokenRenewal, waitUnlessAborted } from './calls.ts'
import { isTransient, PlatformError } from './errors.ts'
import { StreamParser, type StreamEvent } from './event-stream.ts'
import { exchange } from './exchange.ts'
import type { StreamName } from './operations.ts'
import type { Settings } from './options.ts'
import { prepareCall, type AnyRequest } from './prepared-call.ts'
import { Watchdog } from './timing.ts'

// The platform sends a comment every 15 seconds.
const SILENCE_LIMIT_MS = 45_000

export interface FollowOptions {
  /** Called when the connection has ended or could not be opened, before the next attempt. */
  readonly onInterruption?: ((error: PlatformError | undefined) => void) | undefined
}

export type FollowRequest = AnyRequest & FollowOptions

/** The events of a stream, which is resumed behind its last event whenever its connection ends. */
export async function* followStream(
  name: StreamName,
  request: FollowRequest,
  settings: Settings,
): AsyncGenerator<StreamEvent, void> {
  const parser = new StreamParser(request.headers?.['Last-Event-ID'])
  let renewal = new TokenRenewal(settings)
  for (let failures = 0; ; failures++) {
    const interruption = yield* readConnection(
      new Connection(name, request, settings, parser),
      renewal,
      () => {
        failures = 0
        renewal = new TokenRenewal(settings)
      },
    )
    request.onInterruption?.(interruption)
    await waitUnlessAborted(pauseAfter(interruption, failures, settings), settings, request.signal)
  }
}

/** Returns why another connection is needed; throws an error that stays. */
async function* readConnection(
  connection: Connection,
  renewal: TokenRenewal,
  onBytes: () => void,
): AsyncGenerator<StreamEvent, PlatformError | undefined> {
  try {
    yield* connection.events(onBytes)
    return undefined
  } catch (error) {
    if (error instanceof PlatformError && (isTransient(error) || renewal.mayFollow(error))) return error
    throw error
  }
}

class Connection {
  readonly #call
  readonly #settings: Settings
  readonly #parser: StreamParser

  constructor(name: StreamName, request: FollowRequest, settings: Settings, parser: StreamParser) {
    const headers = { ...request.headers, 'Last-Event-ID': parser.lastEventId || undefined }
    this.#call = prepareCall(name, { ...request, headers }, settings.headers)
    this.#settings = settings
    this.#parser = parser
    parser.restart()
  }

  /** Reads to the end of the connection. */
  async *events(onBytes: () => void): AsyncGenerator<StreamEvent, void> {
    const { value } = await exchange(this.#call, 1, this.#settings)
    // The response of a stream has a body.
    const reader = (value as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    try {
      for (let bytes = await this.#read(reader); bytes !== undefined; bytes = await this.#read(reader)) {
        onBytes()
        yield* this.#parser.push(decoder.decode(bytes, { stream: true }))
      }
    } finally {
      // Rejects when the connection is broken already.
      await reader.cancel().catch(() => undefined)
    }
  }

  /** The next bytes; undefined when the stream has ended, or was silent for too long. */
  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
    const silence = new Watchdog(SILENCE_LIMIT_MS)
    silence.signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined))
    try {
      return (await reader.read()).value
    } catch (cause) {
      this.#call.signal?.throwIfAborted()
      throw this.#broken(cause)
    } finally {
      silence.stop()
    }
  }

  #broken(cause: unknown): PlatformError {
    const { operation, requestId } = this.#call
    const message = 'The connection of the stream broke.'
    return new PlatformError({ operation, requestId, attempts: 1, code: 'unreachable', message, cause })
  }
}
