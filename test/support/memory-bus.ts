import type { Bus, BusMessage, BusState, PublishResult } from '../../src/kernel/bus.ts'
import { failBehindFailures } from '../../src/infra/bus/batch.ts'
import { subjectProblem } from '../../src/infra/bus/subjects.ts'

const MAX_PAYLOAD_BYTES = 1_048_576

/** Overrides the result of a message; undefined keeps the result of the bus. */
export type Rule = (message: BusMessage) => PublishResult | undefined

/**
 * A bus in memory. `arrived` has the messages in order, with duplicates, as a subscriber without JetStream receives
 * them. A message that fails by a rule does not arrive, unless `losesConfirmations` is set.
 */
export class MemoryBus implements Bus {
  readonly arrived: BusMessage[] = []
  /** Applied first; set it to refuse or fail messages. */
  rule: Rule = () => undefined
  /** Failed messages arrive: only the confirmation is lost. */
  losesConfirmations = false
  problem: string | undefined = undefined
  readonly #listeners = new Set<(state: BusState) => void>()
  #state: BusState = 'connected'

  get state(): BusState {
    return this.#state
  }

  disconnect(): void {
    this.#enter('disconnected')
  }

  connect(): void {
    this.#enter('connected')
  }

  async publish(messages: readonly BusMessage[]): Promise<PublishResult[]> {
    return failBehindFailures(
      messages,
      messages.map((message) => this.#accept(message)),
    )
  }

  onState(listener: (state: BusState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#enter('closed')
  }

  #accept(message: BusMessage): PublishResult {
    if (this.#state !== 'connected') return { outcome: 'failed', reason: `the bus is ${this.#state}` }
    const delivery = this.rule(message) ?? resultOf(message)
    const arrives = delivery.outcome === 'failed' ? this.losesConfirmations : delivery.outcome === 'delivered'
    if (arrives) this.arrived.push(message)
    return delivery
  }

  #enter(state: BusState): void {
    if (this.#state === 'closed' || this.#state === state) return
    this.#state = state
    for (const listener of this.#listeners) listener(state)
  }
}

function resultOf(message: BusMessage): PublishResult {
  const problem = subjectProblem(message.subject) ?? headerProblem(message.headers) ?? sizeProblem(message)
  return problem ? { outcome: 'refused', reason: problem } : { outcome: 'delivered' }
}

function headerProblem(headers: BusMessage['headers']): string | undefined {
  const isValid = ([name, value]: [string, string]) =>
    /^[!-9;-~]+$/.test(name) && !/^nats-/i.test(name) && !/[\r\n]/.test(value)
  return Object.entries(headers).every(isValid) ? undefined : 'a header is invalid or reserved'
}

function sizeProblem(message: BusMessage): string | undefined {
  return Buffer.byteLength(message.payload) > MAX_PAYLOAD_BYTES ? 'the payload is too large' : undefined
}
