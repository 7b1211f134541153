/** One event of a stream of server-sent events. */
export interface StreamEvent {
  /** The place of the event, to resume behind it. */
  readonly id: string
  readonly event: string
  readonly data: string
}

/**
 * Parses a stream of server-sent events (WHATWG HTML, section 9.2) as the platform writes it: each field in one line. The
 * platform sends the id of the present place also without an event, so that a client can resume which has seen none.
 */
export class StreamParser {
  #rest = ''
  /** The place up to which the stream was read. */
  lastEventId: string

  constructor(lastEventId = '') {
    this.lastEventId = lastEventId
  }

  /** The events that are complete with this piece of text. */
  *push(text: string): Generator<StreamEvent, void> {
    const blocks = (this.#rest + text).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    for (const block of blocks) yield* this.#read(block)
  }

  /** Drops what is not complete, for a new connection. */
  restart(): void {
    this.#rest = ''
  }

  *#read(block: string): Generator<StreamEvent, void> {
    const fields = new Map(block.split('\n').map(splitField))
    this.lastEventId = fields.get('id') ?? this.lastEventId
    const data = fields.get('data')
    const event = fields.get('event')
    if (data !== undefined && event !== undefined) yield { id: this.lastEventId, event, data }
  }
}

function splitField(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
}

/**
 * The events of a body, as they arrive. The body is cancelled when the loop is left. It is read by a reader, because a
 * `ReadableStream` is not iterable in every browser, such as those of WebKit.
 */
export async function* eventsIn(
  body: ReadableStream<Uint8Array>,
  parser: StreamParser,
  onBytes: () => void,
): AsyncGenerator<StreamEvent, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      onBytes()
      yield* parser.push(decoder.decode(part.value, { stream: true }))
    }
  } finally {
    // Rejects when the connection is broken already.
    await reader.cancel().catch(() => undefined)
  }
}
