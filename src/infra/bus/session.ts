import {
  createInbox,
  headers,
  InvalidArgumentError,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  PermissionViolationError,
  type Status,
  type SubscriptionOptions,
} from '@nats-io/transport-node'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BusFault, BusMessage, PublishResult } from '../../kernel/bus.ts'
import { errorMessage } from '../../kernel/errors.ts'
import { SECOND } from '../../kernel/time.ts'
import { isTraceparent } from '../../kernel/trace.ts'
import { Batch, DELIVERED, failedResult, refusedResult } from './batch.ts'
import type { Confirmation, StreamCoverage } from './stream-coverage.ts'
import { subjectProblem } from './subjects.ts'

const CONFIRMATION_MS = 5 * SECOND

/** A new leader takes a few seconds to be elected: so many batches in a row without an acknowledgement take longer. */
const MAX_SILENT_BATCHES = 3

/** Finds a deleted stream, or the end of a problem, also while nothing is published. */
const COVERAGE_CHECK_MS = 5 * SECOND

interface Connection extends Pick<NatsConnection, 'publish' | 'flush' | 'status' | 'closed' | 'close'> {
  subscribe(subject: string, options: SubscriptionOptions): unknown
}
type Coverage = Pick<
  StreamCoverage,
  'problem' | 'streamMadeAt' | 'unstoredSince' | 'refresh' | 'confirmationOf' | 'invalidate' | 'replaceLeader'
>

/**
 * One connection from its greeting to its loss; it never reconnects. So a confirmation always concerns messages of the
 * same connection: a flush that succeeds on the next one says nothing about what the last one lost.
 */
export class BusSession {
  /** Resolves with the reason once the connection is lost. Never rejects. */
  readonly lost: Promise<string>
  readonly #connection: Connection
  readonly #coverage: Coverage
  /** Whether there is another server to go to when JetStream does not answer on this one. */
  readonly #hasAlternative: boolean
  readonly #inbox = createInbox()
  readonly #batches = new Map<number, Batch>()
  readonly #loss = Promise.withResolvers<string>()
  readonly #coverageCheck: NodeJS.Timeout
  #batchCount = 0
  /** Batches in a row of which a stream should have acknowledged messages, and acknowledged none. */
  #silentBatches = 0
  #sending: Promise<void> = Promise.resolve()
  #lastError: string | undefined
  #isLost = false
  #lacksJetStream = false

  constructor(connection: Connection, coverage: Coverage, hasAlternative: boolean) {
    this.#connection = connection
    this.#coverage = coverage
    this.#hasAlternative = hasAlternative
    this.lost = this.#loss.promise
    connection.subscribe(`${this.#inbox}.*.*`, {
      callback: (error, answer) => {
        if (!error) this.#receive(answer)
      },
    })
    this.#coverageCheck = setInterval(() => this.#checkCoverage(), COVERAGE_CHECK_MS).unref()
    void this.#watch()
    void connection.closed().then((error) => this.#lose(error?.message))
  }

  /** Why messages wait although the server is connected. */
  get problem(): string | undefined {
    return this.#coverage.problem
  }

  /** When the platform's stream was made. */
  get streamMadeAt(): number | undefined {
    return this.#coverage.streamMadeAt
  }

  get unstoredSince(): number | undefined {
    return this.#coverage.unstoredSince
  }

  /** Whether the session was given up because JetStream did not answer: the server may be cut off from its cluster. */
  get lacksJetStream(): boolean {
    return this.#lacksJetStream
  }

  /**
   * Sends when the server has taken all messages of earlier calls: so no more than one batch is on its way, and the ping of
   * the connection waits for no more than that. The acknowledgements of several calls may overlap.
   */
  async publish(messages: readonly BusMessage[]): Promise<PublishResult[]> {
    if (this.#isLost) return messages.map(() => failedResult('the connection was lost'))
    const batch = new Batch(messages)
    const number = this.#batchCount++
    this.#batches.set(number, batch)
    this.#sending = this.#sending.then(() => this.#send(batch, number))
    try {
      return await batch.results()
    } finally {
      this.#batches.delete(number)
    }
  }

  /** Waits up to `withinMs` for the open batches, then closes the connection. */
  async close(withinMs: number): Promise<void> {
    const limit = setTimeout(() => this.#lose('the bus was closed'), withinMs)
    await Promise.all([...this.#batches.values()].map((batch) => batch.settled))
    clearTimeout(limit)
    this.#lose('the bus was closed')
    await this.#connection.close()
  }

  async #send(batch: Batch, number: number): Promise<void> {
    try {
      await this.#coverage.refresh()
    } catch {
      batch.settleRest(failedResult(this.#coverage.problem ?? 'the streams of the bus cannot be read'))
      this.#onCoverageFailure()
      return
    }
    // No await from here to the flush: the whole batch is sent on the connection in its present state.
    const confirmations = batch.messages.map((_message, index) =>
      batch.isOpen(index) ? this.#sendOne(batch, number, index) : 'none',
    )
    if (confirmations.every((confirmation) => confirmation === 'none')) return
    const result = await this.#flush()
    confirmations.forEach((confirmation, index) => confirmation === 'flush' && batch.settle(index, result))
    this.#limitWait(batch)
  }

  /** `none` if the message was not sent. */
  #sendOne(batch: Batch, number: number, index: number): Confirmation {
    const message = batch.messages[index] as BusMessage
    const problem = subjectProblem(message.subject)
    if (problem) {
      batch.settle(index, refusedResult(problem, 'bad_subject'))
      return 'none'
    }
    let fault: BusFault | undefined
    try {
      const headers = toHeaders(message)
      const confirmation = this.#coverage.confirmationOf(message.subject)
      if (confirmation === 'none') {
        batch.settle(index, failedResult(`no stream acknowledges ${message.subject}`, 'no_stream'))
      } else {
        const reply = confirmation === 'acknowledgement' ? { reply: this.#replyTo(number, index) } : {}
        // Subject and headers are valid, so the client can refuse only the size.
        fault = 'too_large'
        this.#connection.publish(message.subject, message.payload, { headers, ...reply })
      }
      return confirmation
    } catch (error) {
      const isFinal = error instanceof InvalidArgumentError
      batch.settle(index, isFinal ? refusedResult(error.message, fault) : failedResult(errorMessage(error)))
      return 'none'
    }
  }

  /**
   * Waits as long as there are acknowledgements. A batch that the server has not taken yet has no limit: sent again, it would
   * only wait behind itself. The ping of the connection finds a server that takes nothing.
   */
  #limitWait(batch: Batch): void {
    const { open } = batch
    const limit = setTimeout(() => {
      if (batch.open < open) return this.#limitWait(batch)
      // If a stream is deleted while its subjects have subscribers, nothing answers at all.
      this.#onSilence()
      batch.settleRest(failedResult(`no acknowledgement within ${CONFIRMATION_MS / SECOND} s`))
    }, CONFIRMATION_MS)
    void batch.settled.then(() => clearTimeout(limit))
  }

  #onSilence(): void {
    this.#coverage.invalidate()
    this.#silentBatches += 1
    if (this.#silentBatches % MAX_SILENT_BATCHES === 0) void this.#coverage.replaceLeader()
  }

  async #flush(): Promise<PublishResult> {
    try {
      await this.#connection.flush()
      // The server reports a permission violation before it answers the flush; its event is emitted in this turn.
      await nextTurn()
      return DELIVERED
    } catch (error) {
      return failedResult(errorMessage(error))
    }
  }

  #replyTo(number: number, index: number): string {
    return `${this.#inbox}.${number}.${index}`
  }

  #receive(answer: Msg): void {
    const [number, index] = answer.subject.split('.').slice(-2).map(Number) as [number, number]
    const batch = this.#batches.get(number)
    if (!batch?.isOpen(index)) return
    const ack = readAck(answer)
    if (ack === 'unrelated') return
    this.#silentBatches = 0
    if (ack === 'no_stream') this.#coverage.invalidate()
    batch.settle(
      index,
      ack === 'no_stream' ? failedResult('the stream of the subject is gone', 'no_stream') : ack,
    )
  }

  #checkCoverage(): void {
    // The question would wait behind the messages that are on their way. A failure is kept in `problem`.
    void this.#sending.then(() => this.#coverage.refresh()).catch(() => this.#onCoverageFailure())
  }

  #onCoverageFailure(): void {
    if (!this.#hasAlternative || this.#isLost) return
    this.#lacksJetStream = true
    this.#lose('JetStream does not answer; another server is tried')
  }

  async #watch(): Promise<void> {
    for await (const status of this.#connection.status()) this.#onStatus(status)
  }

  #onStatus(status: Status): void {
    if (status.type === 'error') this.#onError(status.error)
    if (status.type === 'staleConnection') this.#lose('the server does not answer')
  }

  #onError(error: Error): void {
    if (error instanceof PermissionViolationError && error.operation === 'publish') {
      for (const batch of this.#batches.values())
        batch.settleSubject(error.subject, refusedResult(error.message, 'not_permitted'))
    } else {
      this.#lastError = error.message
    }
  }

  #lose(reason = this.#lastError ?? 'the server closed the connection'): void {
    if (this.#isLost) return
    this.#isLost = true
    clearInterval(this.#coverageCheck)
    this.#loss.resolve(reason)
    for (const batch of this.#batches.values())
      batch.settleRest(failedResult(`the connection was lost: ${reason}`))
    // Closing destroys the socket without a last flush, which would never end on a stuck connection.
    void this.#connection.close()
  }
}

const MESSAGE_ID = 'Nats-Msg-Id'

/** The headers with the trace that they name, if its `traceparent` is valid, else that of the request that published the message. */
function withTrace(message: BusMessage): Readonly<Record<string, string>> {
  const isOfTrace = ([name]: [string, string]) => /^trace(?:parent|state)$/i.test(name)
  const headers = Object.entries(message.headers)
  const others = Object.fromEntries(headers.filter((header) => !isOfTrace(header)))
  const trace = Object.fromEntries(
    headers.filter(isOfTrace).map(([name, value]) => [name.toLowerCase(), value]),
  )
  return { ...others, ...(isTraceparent(trace['traceparent']) ? trace : message.traceHeaders) }
}

/** The headers as the client takes them, with the message's id. Throws on a header that the bus does not accept. */
function toHeaders(message: BusMessage): MsgHdrs {
  const result = headers()
  for (const [name, value] of Object.entries(withTrace(message))) {
    // Headers with this prefix are commands to the server: one of them can empty a stream.
    if (/^nats-/i.test(name)) throw new InvalidArgumentError(`the header ${name} is reserved for the bus`)
    if (name === '') throw new InvalidArgumentError('the name of a header is empty')
    result.append(name, value)
  }
  result.set(MESSAGE_ID, message.id)
  return result
}

/** Errors that a stream repeats for the same message at every attempt (nats-server, errors.json). */
const PERMANENT_ERRORS: ReadonlyMap<number, BusFault> = new Map([
  [10054, 'too_large'], // message size exceeds maximum allowed
  [10097, 'headers_too_large'], // header size exceeds maximum allowed of 64k
])

interface PubAck {
  readonly stream?: unknown
  readonly error?: { readonly err_code?: number; readonly description?: string }
}

/**
 * Reads the answer to a published message. `no_stream`: the subject has no subscriber, so no stream takes it.
 * `unrelated`: the answer comes from a subscriber of the subject, not from a stream.
 */
function readAck(answer: Msg): PublishResult | 'no_stream' | 'unrelated' {
  if (answer.data.length === 0 && answer.headers?.code === 503) return 'no_stream'
  const ack = parseAck(answer)
  if (ack?.error) return errorResult(ack.error)
  return typeof ack?.stream === 'string' && ack.stream !== '' ? DELIVERED : 'unrelated'
}

function parseAck(answer: Msg): PubAck | undefined {
  try {
    const body = answer.json<PubAck | null>()
    return typeof body === 'object' && body !== null ? body : undefined
  } catch {
    return undefined
  }
}

function errorResult({
  err_code: code = 0,
  description = 'error',
}: NonNullable<PubAck['error']>): PublishResult {
  const reason = `JetStream: ${description} (${code})`
  const fault = PERMANENT_ERRORS.get(code)
  return fault ? refusedResult(reason, fault) : failedResult(reason)
}
