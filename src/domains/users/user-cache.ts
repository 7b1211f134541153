import { LRUCache } from 'lru-cache'
import type { Clock } from '../../kernel/clock.ts'
import { SECOND } from '../../kernel/time.ts'
import type { User } from './model.ts'

export interface UserCacheOptions {
  readonly find: (id: string) => Promise<User | undefined>
  readonly clock: Clock
  readonly limit: number
}

interface CachedUser {
  readonly user: User
  readonly readAt: number
}

// docs/specification.md, Identity: the tokens of a disabled user stop working within 10 s. A change by another process
// takes effect when the user is read again.
const USER_TTL_MS = 5 * SECOND

/** Caches users for at most five seconds. {@link UserCache.invalidate} also discards the result of a read in progress. */
export class UserCache {
  readonly #options: UserCacheOptions
  readonly #cached: LRUCache<string, CachedUser>
  readonly #pending = new Map<string, Promise<User | undefined>>()

  constructor(options: UserCacheOptions) {
    this.#options = options
    this.#cached = new LRUCache({ max: options.limit })
  }

  /** Undefined when the user has to be read. */
  get(id: string): User | undefined {
    const cached = this.#cached.get(id)
    return cached && this.#options.clock.monotonic() - cached.readAt < USER_TTL_MS ? cached.user : undefined
  }

  /** Reads the user from the store; parallel calls share one read. */
  read(id: string): Promise<User | undefined> {
    const reading = this.#pending.get(id) ?? this.#start(id)
    this.#pending.set(id, reading)
    return reading
  }

  /** Must be called after each change of the user in this process. */
  invalidate(id: string): void {
    this.#cached.delete(id)
    this.#pending.delete(id)
  }

  #start(id: string): Promise<User | undefined> {
    const readAt = this.#options.clock.monotonic()
    const isCurrent = () => this.#pending.get(id) === reading
    const reading = this.#options
      .find(id)
      .then((user) => {
        // Invalidated during the read: the result may be outdated.
        if (!isCurrent()) return this.read(id)
        if (user) this.#cached.set(id, { user, readAt })
        return user
      })
      .finally(() => {
        if (isCurrent()) this.#pending.delete(id)
      })
    return reading
  }
}
