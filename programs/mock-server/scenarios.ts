import { setTimeout as pause } from 'node:timers/promises'
import { MINUTE, SECOND } from '../../src/kernel/time.ts'

/** What a scenario can do with every request. */
export interface RegularAnswer<Answer> {
  /** The regular answer of the endpoint. */
  answer(): Promise<Answer>
  /** Aborted when the server closes without waiting any longer. */
  readonly signal: AbortSignal
}

/** The scenario `delay`, without its endpoints. */
export const DELAY = {
  option: { name: 'delay_ms', default: 2 * SECOND, minimum: 1, maximum: 10 * MINUTE },
  async run<Answer>({ answer, signal }: RegularAnswer<Answer>, delayMs: number): Promise<Answer> {
    const regular = await answer()
    await pause(delayMs, undefined, { signal })
    return regular
  },
} as const
