import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Msg, MsgHdrs, NatsConnection, Status } from '@nats-io/transport-node'
import { createInbox, headers, InvalidArgumentError, PermissionViolationError } from '@nats-io/transport-node'
import type { BusMessage, PublishResult } from '../../kernel/bus.ts'
import { errorMessage } from '../../kernel/errors.ts'
import { readAck } from './acks.ts'
import { Batch, DELIVERED, failed, refused } from './batch.ts'
import type { Coverage } from './streams.ts'
import { subjectProblem } from './subjects.ts'

const MESSAGE_ID = 'Nats-Msg-Id'

const CONFIRMATION_MS = 5_000

type SentAs = 'acknowledged' | 'flushed' | 'not_sent'

/**
 * One connection from its greeting to its loss; it never reconnects. So a confirmation can only be about what was
 * published on the same connection: a flush that succeeds on the next one says nothing about what the last one lost.
 */
export class Session {
  /** Resolves with the reason once the connection is gone. Never rejects. */
  readonly lost: Promise<string>
  readonly #connection: NatsConnection
  readonly #coverage: Coverage
  readonly #inbox = createInbox()
  readonly #batches = new Map<number, Batch>()
  readonly #loss = Promise.withResolvers<string>()
  #batchCount = 0
  #sending: Promise<void> = Promise.resolve()
  #lastError: string | undefined
  #isLost = false

  constructor(connection: NatsConnection, coverage: Coverage) {
    this.#connection = connection
    this.#coverage = coverage
    this.lost = this.#loss.promise
    connection.subscribe(`${this.#inbox}.*.*`, {
      callback: (error, answer) => {
        if (!error) this.#receive(answer)
      },
    })
    void this.#watch()
    void connection.closed().then((error) => this.#lose(error?.message))
  }

  /** Sends after everything that was handed in before; the confirmations of several calls may overlap. */
  async publish(messages: readonly BusMessage[]): Promise<PublishResult[]> {
    if (this.#isLost) return messages.map(() => failed('the connection was lost'))
    const batch = new Batch(messages)
    const number = this.#batchCount++
    this.#batches.set(number, batch)
    this.#sending = this.#sending.then(() => this.#send(batch, number))
    try {
      return await batch.deliveries()
    } finally {
      this.#batches.delete(number)
    }
  }

  /** Waits for what is under way, no longer than that, then closes the connection. */
  async close(withinMs: number): Promise<void> {
    const limit = setTimeout(() => this.#lose('the bus was closed'), withinMs)
    await Promise.all([...this.#batches.values()].map((batch) => batch.settled))
    clearTimeout(limit)
    this.#lose('the bus was closed')
    await this.#connection.close()
  }

  async #send(batch: Batch, number: number): Promise<void> {
    try {
      const covered = await this.#coverage.read()
      // From here to the flush nothing is awaited: all of it goes out on the connection as it is now.
      const sent = batch.messages.map((message, index) => {
        if (!batch.isOpen(index)) return 'not_sent'
        return this.#sendOne(
          batch,
          index,
          covered.test(message.subject) ? this.#replyTo(number, index) : undefined,
        )
      })
      this.#limitWait(batch, sent.includes('acknowledged'))
      if (sent.includes('flushed')) void this.#confirmByFlush(batch, sent)
    } catch (error) {
      batch.settleRest(failed(`the streams of the bus cannot be read: ${errorMessage(error)}`))
    }
  }

  #sendOne(batch: Batch, index: number, reply: string | undefined): SentAs {
    const message = batch.messages[index] as BusMessage
    try {
      const problem = subjectProblem(message.subject)
      if (problem) throw new InvalidArgumentError(problem)
      const options = { headers: toHeaders(message) }
      this.#connection.publish(message.subject, message.payload, reply ? { ...options, reply } : options)
      return reply ? 'acknowledged' : 'flushed'
    } catch (error) {
      const isFinal = error instanceof InvalidArgumentError
      batch.settle(index, isFinal ? refused(error.message) : failed(errorMessage(error)))
      return 'not_sent'
    }
  }

  #limitWait(batch: Batch, isAcknowledged: boolean): void {
    const limit = setTimeout(() => {
      // A stream that went away while subscribers remain shows itself only by its silence.
      if (isAcknowledged) this.#coverage.forget()
      batch.settleRest(failed(`no confirmation within ${CONFIRMATION_MS / 1_000} s`))
    }, CONFIRMATION_MS)
    void batch.settled.then(() => clearTimeout(limit))
  }

  async #confirmByFlush(batch: Batch, sent: readonly SentAs[]): Promise<void> {
    try {
      await this.#connection.flush()
      // A violation of permissions stands before the flush's answer; its event comes by the end of this turn.
      await nextTurn()
      sent.forEach((way, index) => way === 'flushed' && batch.settle(index, DELIVERED))
    } catch (error) {
      sent.forEach((way, index) => way === 'flushed' && batch.settle(index, failed(errorMessage(error))))
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
    if (ack === 'no_stream') this.#coverage.forget()
    batch.settle(index, ack === 'no_stream' ? failed('no stream covers the subject any more') : ack)
  }

  async #watch(): Promise<void> {
    for await (const status of this.#connection.status()) this.#react(status)
  }

  #react(status: Status): void {
    if (status.type === 'error') this.#reactToError(status.error)
    if (status.type === 'staleConnection') this.#lose('the server does not answer')
    if (status.type === 'disconnect') this.#lose()
  }

  #reactToError(error: Error): void {
    if (error instanceof PermissionViolationError && error.operation === 'publish') {
      for (const batch of this.#batches.values()) batch.settleSubject(error.subject, refused(error.message))
    } else {
      this.#lastError = error.message
    }
  }

  #lose(reason = this.#lastError ?? 'the server closed the connection'): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#loss.resolve(reason)
    for (const batch of this.#batches.values()) batch.settleRest(failed(`the connection was lost: ${reason}`))
    // Closing destroys the socket without a last flush, which on a connection that is stuck would never end.
    void this.#connection.close()
  }
}

function toHeaders(message: BusMessage): MsgHdrs {
  const result = headers()
  for (const [name, value] of Object.entries(message.headers)) {
    // Headers of that prefix steer the server: one of them can empty a stream.
    if (/^nats-/i.test(name)) throw new InvalidArgumentError(`the header ${name} is reserved for the bus`)
    if (name === '') throw new InvalidArgumentError('a header has no name')
    result.append(name, value)
  }
  result.set(MESSAGE_ID, message.id)
  return result
}
