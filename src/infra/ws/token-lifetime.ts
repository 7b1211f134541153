import type { Clock } from '../../kernel/clock.ts'
import { MINUTE } from '../../kernel/time.ts'

// docs/specification.md, Gateway
const WARNING_MS = 5 * MINUTE

/** How long the token of a session is still valid. */
export class TokenLifetime {
  /** Epoch milliseconds. */
  readonly expiresAt: number
  /** Monotonic: the wall clock may be set during a session, and the session must not end sooner or later for it. */
  readonly #endsAt: number
  #isWarned = false

  constructor(clock: Clock, expiresAt: number) {
    this.expiresAt = expiresAt
    this.#endsAt = clock.monotonic() + expiresAt - clock.now()
  }

  /** `expiring` once, when a few minutes are left. `at` is monotonic. */
  check(at: number): 'valid' | 'expiring' | 'expired' {
    if (at >= this.#endsAt) return 'expired'
    if (this.#isWarned || at < this.#endsAt - WARNING_MS) return 'valid'
    this.#isWarned = true
    return 'expiring'
  }
}
