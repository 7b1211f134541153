import { backoffMs } from '../../../src/kernel/waiting.ts'
import { isTransient, PlatformError } from './errors.ts'
import { exchange, type Reply } from './exchange.ts'
import type { Settings } from './options.ts'
import type { PreparedCall } from './prepared-call.ts'

const BACKOFF = { initialMs: 200, maximumMs: 5_000 }

/**
 * Sends a call, and sends it again after failures that may pass, where that cannot repeat its effect, and once with another
 * token.
 */
export async function sendCall(call: PreparedCall, settings: Settings): Promise<Reply> {
  const { timing, retryForMs } = settings
  const retryUntil = timing.now() + retryForMs
  const renewal = new TokenRenewal(settings)
  for (let attempt = 1, failures = 0; ; attempt++) {
    try {
      return await exchange(call, attempt, settings)
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      if (renewal.mayFollow(error)) continue
      const pauseMs = pauseAfter(error, failures++, settings)
      if (!call.isRepeatable || !isTransient(error) || timing.now() + pauseMs > retryUntil) throw error
      await waitUnlessAborted(pauseMs, settings, call.signal)
    }
  }
}

/** One more attempt after a refused token, if the next token may be another one. */
export class TokenRenewal {
  #isLeft: boolean

  constructor({ canRenewToken }: Settings) {
    this.#isLeft = canRenewToken
  }

  /** Whether the same request may be sent at once with another token; once after each success. */
  mayFollow({ status }: PlatformError): boolean {
    if (status !== 401 || !this.#isLeft) return false
    this.#isLeft = false
    return true
  }
}

/** Milliseconds before another attempt. */
export function pauseAfter(error: PlatformError | undefined, failures: number, { timing }: Settings): number {
  // Clients that got the same `Retry-After` must not come back at the same moment.
  return (error?.retryAfterSeconds ?? 0) * 1_000 + backoffMs(BACKOFF, failures, timing.random)
}

/** Rejects with the reason of the signal when that aborts. */
export async function waitUnlessAborted(
  milliseconds: number,
  { timing }: Settings,
  signal: AbortSignal | undefined,
): Promise<void> {
  await timing.wait(milliseconds, signal)
  signal?.throwIfAborted()
}
