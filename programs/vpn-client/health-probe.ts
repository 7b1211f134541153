import type { WaitingClock } from '../../src/kernel/clock.ts'
import { SECOND } from '../../src/kernel/time.ts'

const PROBES = 6
const PROBE_TIMEOUT_MS = 3 * SECOND

/** Resolves when a gateway has been healthy for so long without a gap, or when the signal is aborted. Never rejects. */
export async function waitUntilHealthy(
  healthUrl: string,
  forMs: number,
  clock: WaitingClock,
  signal: AbortSignal,
): Promise<void> {
  let since: number | undefined
  while (!signal.aborted) {
    since = (await isHealthy(healthUrl, signal)) ? (since ?? clock.monotonic()) : undefined
    if (since !== undefined && clock.monotonic() - since >= forMs) return
    await clock.wait(forMs / PROBES, signal)
  }
}

async function isHealthy(healthUrl: string, signal: AbortSignal): Promise<boolean> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])
  try {
    const response = await fetch(healthUrl, { redirect: 'manual', signal: limit })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}
