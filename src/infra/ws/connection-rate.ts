import type { Clock } from '../../kernel/clock.ts'
import { SECOND } from '../../kernel/time.ts'

export interface ConnectionRateOptions {
  readonly clock: Clock
  readonly perSecond: number
  /** How many may connect at once. */
  readonly burst: number
  /** How many addresses are remembered at most. */
  readonly maxAddresses?: number
}

interface Bucket {
  readonly tokens: number
  readonly filledAt: number
}

const MAX_ADDRESSES = 50_000

/** A token bucket for each address, in the memory of this process. */
export class ConnectionRate {
  readonly #clock: Clock
  readonly #perSecond: number
  readonly #burst: number
  readonly #maxAddresses: number
  readonly #buckets = new Map<string, Bucket>()

  constructor({ clock, perSecond, burst, maxAddresses = MAX_ADDRESSES }: ConnectionRateOptions) {
    this.#clock = clock
    this.#perSecond = perSecond
    this.#burst = burst
    this.#maxAddresses = maxAddresses
  }

  /** Counts a connection; undefined when it is allowed, otherwise the seconds until the next one is. */
  take(address: string): number | undefined {
    const { tokens, filledAt } = this.#fill(address)
    const isAllowed = tokens >= 1
    this.#store(address, { tokens: isAllowed ? tokens - 1 : tokens, filledAt })
    return isAllowed ? undefined : (1 - tokens) / this.#perSecond
  }

  #fill(address: string): Bucket {
    const now = this.#clock.monotonic()
    const { tokens, filledAt } = this.#buckets.get(address) ?? { tokens: this.#burst, filledAt: now }
    const filled = tokens + ((now - filledAt) / SECOND) * this.#perSecond
    return { tokens: Math.min(this.#burst, filled), filledAt: now }
  }

  // The bucket that was used longest ago is the fullest: dropping it gives an attacker the least.
  #store(address: string, bucket: Bucket): void {
    this.#buckets.delete(address)
    if (this.#buckets.size >= this.#maxAddresses)
      this.#buckets.delete(this.#buckets.keys().next().value ?? '')
    this.#buckets.set(address, bucket)
  }
}
