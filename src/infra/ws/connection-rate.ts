import type { Clock } from '../../kernel/clock.ts'
import { SECOND } from '../../kernel/time.ts'

export interface ConnectionRateOptions {
  readonly clock: Clock
  readonly perSecond: number
  /** How many may come at once. */
  readonly burst: number
  /** Addresses that are remembered at most. */
  readonly limit?: number
}

export interface ConnectionRate {
  /** Counts a connection from an address: undefined when it may be made, else the seconds until the next one may. */
  take(address: string): number | undefined
}

interface Bucket {
  tokens: number
  filledAt: number
}

const ADDRESSES_REMEMBERED = 50_000

/** A bucket of tokens for each address, in the memory of this process. */
export function createConnectionRate(options: ConnectionRateOptions): ConnectionRate {
  const { clock, perSecond, burst, limit = ADDRESSES_REMEMBERED } = options
  const buckets = new Map<string, Bucket>()

  const bucketOf = (address: string): Bucket => {
    const now = clock.monotonic()
    const { tokens, filledAt } = buckets.get(address) ?? { tokens: burst, filledAt: now }
    const filled = Math.min(burst, tokens + ((now - filledAt) / SECOND) * perSecond)
    return { tokens: filled, filledAt: now }
  }

  // The one that was used longest ago is the fullest, and forgetting it gives the least away.
  const remember = (address: string, bucket: Bucket) => {
    buckets.delete(address)
    if (buckets.size >= limit) buckets.delete(buckets.keys().next().value as string)
    buckets.set(address, bucket)
  }

  return {
    take(address) {
      const bucket = bucketOf(address)
      const isAllowed = bucket.tokens >= 1
      if (isAllowed) bucket.tokens -= 1
      remember(address, bucket)
      return isAllowed ? undefined : (1 - bucket.tokens) / perSecond
    },
  }
}
