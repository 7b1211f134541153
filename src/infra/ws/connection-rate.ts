import { clientNetwork } from '../../kernel/addresses.ts'
import type { Clock } from '../../kernel/clock.ts'
import { SECOND } from '../../kernel/time.ts'
import { TokenBucket, type RateLimit } from '../../kernel/token-bucket.ts'

export interface ConnectionRateOptions {
  readonly clock: Clock
  readonly perSecond: number
  /** How many may connect at once. */
  readonly burst: number
  /** How many networks are remembered at most. */
  readonly maxNetworks?: number
}

const MAX_NETWORKS = 50_000

/** A token bucket for each network of a client (see {@link clientNetwork}), in the memory of this process. */
export class ConnectionRate {
  readonly #clock: Clock
  readonly #limit: RateLimit
  readonly #maxNetworks: number
  readonly #buckets = new Map<string, TokenBucket>()

  constructor({ clock, perSecond, burst, maxNetworks = MAX_NETWORKS }: ConnectionRateOptions) {
    this.#clock = clock
    this.#limit = { burst, everyMs: SECOND / perSecond }
    this.#maxNetworks = maxNetworks
  }

  /** Counts a connection; undefined when it is allowed, otherwise the seconds until the next one is. */
  take(address: string): number | undefined {
    const network = clientNetwork(address)
    const bucket = this.#buckets.get(network) ?? new TokenBucket(this.#limit, this.#clock.monotonic)
    this.#store(network, bucket)
    const waitMs = bucket.take()
    return waitMs === 0 ? undefined : waitMs / SECOND
  }

  // The bucket that was used longest ago is the fullest: dropping it gives an attacker the least.
  #store(network: string, bucket: TokenBucket): void {
    this.#buckets.delete(network)
    if (this.#buckets.size >= this.#maxNetworks) this.#buckets.delete(this.#buckets.keys().next().value ?? '')
    this.#buckets.set(network, bucket)
  }
}
