import { backoffMs } from '../../../src/kernel/retry.ts'
import { isTransient, PlatformError } from './errors.ts'
import { exchange, type Reply } from './exchange.ts'
import type { Settings } from './options.ts'
import type { PreparedCall } from './prepared-call.ts'

const BACKOFF = { initialMs: 200, maximumMs: 10_000 }

/** Sends a call, and sends it again after failures that may pass, where that cannot repeat its effect. */
export async function sendCall(call: PreparedCall, settings: Settings): Promise<Reply> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await exchange(call, attempt, settings)
    } catch (error) {
      const isLast = !call.isRepeatable || attempt > settings.retries
      if (isLast || !(error instanceof PlatformError) || !isTransient(error)) throw error
      if ((error.retryAfterSeconds ?? 0) * 1_000 > settings.maximumRetryAfterMs) throw error
      await pauseAfter(error, attempt - 1, settings, call.signal)
    }
  }
}

/** Waits before another attempt. Rejects with the reason of the signal when that aborts. */
export async function pauseAfter(
  error: PlatformError | undefined,
  failures: number,
  { timing }: Settings,
  signal: AbortSignal | undefined,
): Promise<void> {
  // Clients that got the same `Retry-After` must not come back at the same moment.
  const jittered = backoffMs(BACKOFF, failures, timing.random)
  await timing.wait((error?.retryAfterSeconds ?? 0) * 1_000 + jittered, signal)
  signal?.throwIfAborted()
}
