import type { WaitingClock } from '../../../../src/kernel/clock.ts'
import { errorMessage } from '../../../../src/kernel/errors.ts'
import { backoffMs } from '../../../../src/kernel/waiting.ts'
import { formatDuration, SECOND } from '../../../../src/kernel/time.ts'
import type { SelfCheck, SelfCheckStep } from './check.ts'

export interface SelfCheckRun {
  readonly clock: WaitingClock
  readonly steps: readonly SelfCheckStep[]
  /** The setting `selfcheck_for`: how long a check may fail. */
  readonly forMs: number
  /** Called with the result of each check after each try. */
  readonly onResult?: (result: SelfCheck) => void
  readonly signal?: AbortSignal | undefined
}

const PAUSES = { initialMs: 2 * SECOND, maximumMs: 30 * SECOND }

/**
 * Runs the checks side by side, each until it passes or the time is over, and returns their last results in the order of
 * the steps. Never rejects.
 */
export async function runSelfcheck({
  clock,
  steps,
  forMs,
  onResult = () => undefined,
  signal,
}: SelfCheckRun): Promise<SelfCheck[]> {
  const over = new AbortController()
  const stop = signal ? AbortSignal.any([over.signal, signal]) : over.signal
  void clock.wait(forMs, stop).then(() => over.abort())
  const stopReason = () => (signal?.aborted ? 'interrupted' : `no result within ${formatDuration(forMs)}`)
  const repeat = async (step: SelfCheckStep): Promise<SelfCheck> => {
    for (let attempt = 0; ; attempt++) {
      const result = await tryOnce(step, stop, stopReason)
      onResult(result)
      if (result.ok || stop.aborted) return result
      await clock.wait(
        backoffMs(PAUSES, attempt, () => 1),
        stop,
      )
      if (stop.aborted) return result
    }
  }
  const results = await Promise.all(steps.map(repeat))
  over.abort()
  return results
}

/** The check may not react to the signal, which then ends the wait for it. */
async function tryOnce(
  { name, check }: SelfCheckStep,
  stop: AbortSignal,
  stopReason: () => string,
): Promise<SelfCheck> {
  const stopped = Promise.withResolvers<never>()
  const onStop = () => stopped.reject(new Error(stopReason()))
  if (stop.aborted) onStop()
  stop.addEventListener('abort', onStop, { once: true })
  try {
    const detail = await Promise.race([check(stop), stopped.promise])
    return { name, ok: true, detail }
  } catch (error) {
    return { name, ok: false, detail: errorMessage(error) }
  } finally {
    stop.removeEventListener('abort', onStop)
  }
}
