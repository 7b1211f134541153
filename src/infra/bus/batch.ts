import type { BusMessage, PublishResult } from '../../kernel/bus.ts'

export const DELIVERED: PublishResult = { outcome: 'delivered' }

export function failed(reason: string): PublishResult {
  return { outcome: 'failed', reason }
}

export function refused(reason: string): PublishResult {
  return { outcome: 'refused', reason }
}

/** What becomes of the messages of one call of `publish`; the first word about a message counts. */
export class Batch {
  readonly messages: readonly BusMessage[]
  readonly #deliveries: (PublishResult | undefined)[]
  readonly #allSettled = Promise.withResolvers<void>()
  #open: number

  constructor(messages: readonly BusMessage[]) {
    this.messages = messages
    this.#deliveries = messages.map(() => undefined)
    this.#open = messages.length
    if (this.#open === 0) this.#allSettled.resolve()
  }

  /** Resolves as soon as each message has its answer. */
  get settled(): Promise<void> {
    return this.#allSettled.promise
  }

  isOpen(index: number): boolean {
    return index < this.#deliveries.length && this.#deliveries[index] === undefined
  }

  settle(index: number, delivery: PublishResult): void {
    if (!this.isOpen(index)) return
    this.#deliveries[index] = delivery
    this.#open -= 1
    if (this.#open === 0) this.#allSettled.resolve()
  }

  settleSubject(subject: string, delivery: PublishResult): void {
    this.messages.forEach((message, index) => {
      if (message.subject === subject) this.settle(index, delivery)
    })
  }

  settleRest(delivery: PublishResult): void {
    this.messages.forEach((_message, index) => this.settle(index, delivery))
  }

  async deliveries(): Promise<PublishResult[]> {
    await this.settled
    return withOrderKept(this.messages, this.#deliveries as PublishResult[])
  }
}

/**
 * Whatever follows a failed message on its subject counts as failed too: sent again together, the messages reach a
 * receiver that drops repetitions in their first order.
 */
export function withOrderKept(
  messages: readonly BusMessage[],
  deliveries: readonly PublishResult[],
): PublishResult[] {
  const broken = new Set<string>()
  return deliveries.map((delivery, index) => {
    const { subject } = messages[index] as BusMessage
    if (delivery.outcome === 'failed') broken.add(subject)
    const isBehind = delivery.outcome === 'delivered' && broken.has(subject)
    return isBehind ? failed('an earlier message on this subject failed') : delivery
  })
}
