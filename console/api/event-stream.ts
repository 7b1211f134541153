/** One event of `GET /events`. */
export interface LiveEvent {
  /** The subject on the bus, such as `order.paid`, or `reset`. */
  readonly subject: string
  /** The object as the API shows it. */
  readonly data: unknown
}

/**
 * Parses a stream of server-sent events (WHATWG HTML, section 9.2) as the platform writes it: each field in one line. The
 * platform sends the id of the present place also without an event, so that a client can resume which has seen none.
 */
export class EventStreamParser {
  readonly #readData: (text: string) => unknown
  #rest = ''
  /** The place up to which the stream was read. */
  lastEventId: string

  /** `readData` reads the field `data`; by default it has an envelope. */
  constructor(lastEventId = '', readData: (text: string) => unknown = dataOfEnvelope) {
    this.lastEventId = lastEventId
    this.#readData = readData
  }

  /** The events that are complete with this piece of text. */
  push(text: string): LiveEvent[] {
    const blocks = (this.#rest + text).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.flatMap((block) => this.#read(block))
  }

  #read(block: string): LiveEvent[] {
    const fields = new Map(block.split('\n').map(splitField))
    this.lastEventId = fields.get('id') ?? this.lastEventId
    const data = fields.get('data')
    const subject = fields.get('event')
    if (data === undefined || subject === undefined) return []
    return [{ subject, data: this.#readData(data) }]
  }
}

function splitField(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
}

/** `data` of the envelope (CloudEvents 1.0). */
function dataOfEnvelope(text: string): unknown {
  try {
    const envelope: unknown = JSON.parse(text)
    return typeof envelope === 'object' && envelope !== null && 'data' in envelope ? envelope.data : null
  } catch {
    return null
  }
}
