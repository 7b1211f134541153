import type { WaitingClock } from '../../../src/kernel/clock.ts'
import { backoffMs, type Backoff } from '../../../src/kernel/waiting.ts'
import { SECOND } from '../../../src/kernel/time.ts'
import type { BackupError } from '../errors.ts'

// docs/specification.md, Nightly backup
const MAX_TRIES = 5
const TOTAL_MS = 60 * SECOND
export const CALL_TIMEOUT_MS = 30 * SECOND

const PAUSES: Backoff = { initialMs: SECOND, maximumMs: 20 * SECOND }

/** Thrown by a try that may succeed later. When no try is left, its failure is thrown instead. */
export class TemporaryFailure extends Error {
  override readonly name = 'TemporaryFailure'
  readonly failure: BackupError
  /** The pause that the drive has asked for. */
  readonly retryAfterMs: number

  constructor(failure: BackupError, retryAfterMs = 0) {
    super(failure.message, { cause: failure })
    this.failure = failure
    this.retryAfterMs = retryAfterMs
  }
}

/** One try of a call. */
export interface Attempt {
  /** How long it may take. */
  readonly timeoutMs: number
  /** Called when bytes have arrived: the time limit for all attempts begins again. */
  readonly moved: () => void
}

export interface RetryDeps {
  readonly clock: WaitingClock
  readonly random?: () => number
  readonly signal?: AbortSignal | undefined
}

/** Repeats a call after growing pauses, while it throws a {@link TemporaryFailure}. */
export async function withRetries<T>(
  { clock, random, signal }: RetryDeps,
  run: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  let since = clock.monotonic()
  const left = () => since + TOTAL_MS - clock.monotonic()
  const moved = () => void (since = clock.monotonic())
  for (let tries = 1; ; tries++) {
    try {
      return await run({ timeoutMs: Math.min(CALL_TIMEOUT_MS, left()), moved })
    } catch (error) {
      if (!(error instanceof TemporaryFailure)) throw error
      const pause = Math.max(error.retryAfterMs, backoffMs(PAUSES, tries - 1, random))
      if (tries === MAX_TRIES || pause >= left() || signal?.aborted) throw error.failure
      await clock.wait(pause, signal)
      if (signal?.aborted) throw error.failure
    }
  }
}
