import { LRUCache } from 'lru-cache'
import type { Clock } from '../../kernel/clock.ts'
import { SECOND } from '../../kernel/time.ts'

export interface ReadCacheOptions<T> {
  readonly find: (key: string) => Promise<T | undefined>
  readonly clock: Clock
  readonly limit: number
}

interface Cached<T> {
  readonly value: T
  readonly readAt: number
}

// docs/specification.md, Identity: the tokens of a disabled user stop working within 10 s. A change by another process
// takes effect when the row is read again.
const TTL_MS = 5 * SECOND

/** Caches rows for at most five seconds. {@link ReadCache.invalidate} also discards the result of a read in progress. */
export class ReadCache<T extends object> {
  readonly #options: ReadCacheOptions<T>
  readonly #cached: LRUCache<string, Cached<T>>
  readonly #pending = new Map<string, Promise<T | undefined>>()

  constructor(options: ReadCacheOptions<T>) {
    this.#options = options
    this.#cached = new LRUCache({ max: options.limit })
  }

  /** Undefined when the row has to be read. */
  get(key: string): T | undefined {
    const cached = this.#cached.get(key)
    return cached && this.#options.clock.monotonic() - cached.readAt < TTL_MS ? cached.value : undefined
  }

  /** Reads the row from the store; parallel calls share one read. */
  read(key: string): Promise<T | undefined> {
    const reading = this.#pending.get(key) ?? this.#start(key)
    this.#pending.set(key, reading)
    return reading
  }

  /** Must be called after each change of the row in this process. */
  invalidate(key: string): void {
    this.#cached.delete(key)
    this.#pending.delete(key)
  }

  /** Forgets every row that matches. */
  invalidateWhere(matches: (value: T) => boolean): void {
    for (const [key, { value }] of this.#cached.entries()) if (matches(value)) this.#cached.delete(key)
    this.#pending.clear()
  }

  #start(key: string): Promise<T | undefined> {
    const readAt = this.#options.clock.monotonic()
    const isCurrent = () => this.#pending.get(key) === reading
    const reading = this.#options
      .find(key)
      .then((value) => {
        // Invalidated during the read: the result may be outdated.
        if (!isCurrent()) return this.read(key)
        if (value) this.#cached.set(key, { value, readAt })
        return value
      })
      .finally(() => {
        if (isCurrent()) this.#pending.delete(key)
      })
    return reading
  }
}
