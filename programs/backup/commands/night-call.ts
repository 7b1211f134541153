import type { Night, NightOutcome } from '../night/night.ts'
import { dueForRetry, dueForSchedule } from '../night/schedule.ts'

/** One way to call the routine. */
export interface NightCall {
  /** Whether the call repeats a failed night. */
  readonly isRetry: boolean
  /** Decides whether the call has to do anything; without it the call always runs. */
  readonly due?: typeof dueForRetry
  run(night: Night): Promise<NightOutcome>
}

/** `run` */
export const MANUAL_CALL: NightCall = { isRetry: false, run: (night) => night.run() }
/** `run --scheduled` */
export const SCHEDULED_CALL: NightCall = {
  isRetry: false,
  due: dueForSchedule,
  run: (night) => night.runScheduled(),
}
/** `retry` */
export const RETRY_CALL: NightCall = { isRetry: true, due: dueForRetry, run: (night) => night.retryOnce() }
