import type { BusFault, BusMessage, PublishResult } from '../../kernel/bus.ts'

export const DELIVERED: PublishResult = { outcome: 'delivered' }

type Undelivered<Outcome> = Exclude<PublishResult, { outcome: 'delivered' }> & { readonly outcome: Outcome }

export function failedResult(reason: string, fault?: BusFault): Undelivered<'failed'> {
  return { outcome: 'failed', reason, fault }
}

export function refusedResult(reason: string, fault?: BusFault): Undelivered<'refused'> {
  return { outcome: 'refused', reason, fault }
}

/** The messages of one call of `publish` and their results; the first result of a message counts. */
export class Batch {
  readonly messages: readonly BusMessage[]
  readonly #results: (PublishResult | undefined)[]
  readonly #allSettled = Promise.withResolvers<void>()
  #open: number

  constructor(messages: readonly BusMessage[]) {
    this.messages = messages
    this.#results = messages.map(() => undefined)
    this.#open = messages.length
    if (this.#open === 0) this.#allSettled.resolve()
  }

  /** Resolves as soon as each message has its result. */
  get settled(): Promise<void> {
    return this.#allSettled.promise
  }

  /** How many messages have no result. */
  get open(): number {
    return this.#open
  }

  isOpen(index: number): boolean {
    return index < this.#results.length && this.#results[index] === undefined
  }

  settle(index: number, result: PublishResult): void {
    if (!this.isOpen(index)) return
    this.#results[index] = result
    this.#open -= 1
    if (this.#open === 0) this.#allSettled.resolve()
  }

  settleSubject(subject: string, result: PublishResult): void {
    this.messages.forEach((message, index) => {
      if (message.subject === subject) this.settle(index, result)
    })
  }

  settleRest(result: PublishResult): void {
    this.messages.forEach((_message, index) => this.settle(index, result))
  }

  async results(): Promise<PublishResult[]> {
    await this.settled
    return failBehindFailures(this.messages, this.#results as PublishResult[])
  }
}

/**
 * Also fails what was delivered behind a failed message of its subject: sent again together, the messages reach a
 * receiver that drops duplicates in their first order.
 */
export function failBehindFailures(
  messages: readonly BusMessage[],
  results: readonly PublishResult[],
): PublishResult[] {
  const failedSubjects = new Set<string>()
  return results.map((result, index) => {
    const { subject } = messages[index] as BusMessage
    if (result.outcome === 'failed') failedSubjects.add(subject)
    const isBehind = result.outcome === 'delivered' && failedSubjects.has(subject)
    return isBehind ? failedResult('an earlier message on this subject failed') : result
  })
}
