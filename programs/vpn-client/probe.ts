import { SECOND } from '../../src/kernel/time.ts'
import type { WaitingClock } from './waiting-clock.ts'

const PROBES = 6
const ANSWER_PATIENCE_MS = 3 * SECOND

/** Resolves when a gateway has answered well for so long without a gap, or when the signal is aborted. Never rejects. */
export async function answersSteadily(
  healthUrl: string,
  forMs: number,
  clock: WaitingClock,
  signal: AbortSignal,
): Promise<void> {
  let since: number | undefined
  while (!signal.aborted) {
    since = (await answers(healthUrl, signal)) ? (since ?? clock.monotonic()) : undefined
    if (since !== undefined && clock.monotonic() - since >= forMs) return
    await clock.wait(forMs / PROBES, signal)
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
