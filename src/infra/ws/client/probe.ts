import { SECOND } from '../../../kernel/time.ts'
import type { WaitingClock } from './waiting-clock.ts'

const PROBE_EVERY_MS = 5 * SECOND
const ANSWER_PATIENCE_MS = 3 * SECOND

// contract, section 5: it goes back to the first once that has answered for 30 s
const TRUSTED_AFTER_MS = 30 * SECOND

/** Resolves when a gateway has answered well for 30 s without a gap, or when the signal is aborted. Never rejects. */
export async function answersSteadily(
  healthUrl: string,
  clock: WaitingClock,
  signal: AbortSignal,
): Promise<void> {
  let since: number | undefined
  while (!signal.aborted) {
    since = (await answers(healthUrl, signal)) ? (since ?? clock.monotonic()) : undefined
    if (since !== undefined && clock.monotonic() - since >= TRUSTED_AFTER_MS) return
    await clock.wait(PROBE_EVERY_MS, signal)
  }
}

async function answers(healthUrl: string, signal: AbortSignal): Promise<boolean> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_PATIENCE_MS)])
  try {
    const response = await fetch(healthUrl, { redirect: 'manual', signal: limit })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}
