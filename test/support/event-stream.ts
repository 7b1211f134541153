import { once } from 'node:events'
import { Agent, request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { eventually } from './eventually.ts'

/** An event of a stream as a client sees it. */
export interface SeenEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

export interface EventStreamClient extends Disposable {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** The events so far, without comments. */
  readonly events: readonly SeenEvent[]
  /** The last id that was seen, also of a comment. */
  readonly lastEventId: string
  readonly comments: number
  readonly isOver: boolean
  /** Resolves with the body when the stream is over. */
  readonly ended: Promise<string>
  /** Resolves when there are so many events. */
  count(events: number): Promise<readonly SeenEvent[]>
  /** Stops reading; the connection stays. */
  pause(): void
}

export interface OpenStreamOptions {
  readonly headers?: OutgoingHttpHeaders
  readonly lastEventId?: string | undefined
  /** Closes the connection without ending the request. */
  readonly signal?: AbortSignal
}

const ADMIN = { 'x-user-id': 'tester', 'x-user-roles': 'admin' }

/** Opens a stream on a connection of its own; resolves with the head of the response. */
export async function openEventStream(
  url: string,
  path = '/events',
  { headers = ADMIN, lastEventId, signal }: OpenStreamOptions = {},
): Promise<EventStreamClient> {
  const agent = new Agent({ keepAlive: false })
  const resume = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const outgoing = request(`${url}${path}`, { agent, signal, headers: { ...headers, ...resume } })
  outgoing.end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  outgoing.on('error', () => undefined)
  return new StreamClient(response, () => outgoing.destroy())
}

class StreamClient implements EventStreamClient {
  readonly events: SeenEvent[] = []
  lastEventId = ''
  comments = 0
  isOver = false
  readonly ended: Promise<string>
  readonly #response: IncomingMessage
  readonly #close: () => void
  #body = ''
  #parsed = 0

  constructor(response: IncomingMessage, close: () => void) {
    this.#response = response
    this.#close = close
    const { promise, resolve } = Promise.withResolvers<string>()
    this.ended = promise
    response.setEncoding('utf8')
    response.on('data', (text: string) => this.#take(text))
    response.on('error', () => undefined)
    response.on('close', () => {
      this.isOver = true
      resolve(this.#body)
    })
  }

  get status(): number {
    return this.#response.statusCode ?? 0
  }

  get headers(): IncomingMessage['headers'] {
    return this.#response.headers
  }

  async count(events: number): Promise<readonly SeenEvent[]> {
    await eventually(`${events} events`, () => this.events.length >= events)
    return this.events
  }

  pause(): void {
    this.#response.pause()
  }

  [Symbol.dispose](): void {
    this.#close()
  }

  #take(text: string): void {
    this.#body += text
    for (let end = this.#nextEnd(); end !== -1; end = this.#nextEnd()) {
      this.#takeBlock(this.#body.slice(this.#parsed, end))
      this.#parsed = end + 2
    }
  }

  #nextEnd(): number {
    return this.#body.indexOf('\n\n', this.#parsed)
  }

  #takeBlock(block: string): void {
    const fields = new Map(block.split('\n').map((line) => splitLine(line)))
    if (fields.has('')) this.comments++
    const id = fields.get('id')
    if (id !== undefined) this.lastEventId = id
    const data = fields.get('data')
    if (data !== undefined) this.events.push({ id: id ?? '', event: fields.get('event') ?? '', data })
  }
}

function splitLine(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
}
