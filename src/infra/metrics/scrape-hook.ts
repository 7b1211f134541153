import type { Clock } from '../../kernel/clock.ts'
import { errorMessage } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Gauge } from '../../kernel/metrics.ts'
import { SECOND } from '../../kernel/time.ts'

// A database that hangs must not hold up the metrics that show it.
const TIMEOUT_MS = 2 * SECOND

export interface ScrapeHookOptions {
  readonly collect: () => void | Promise<void>
  /** Cleared when `collect` fails. */
  readonly gauges: readonly Gauge[]
  /** A result, also a failure, is kept so long; 0 runs `collect` at each scrape. */
  readonly keepMs: number
  readonly logger: Logger
  readonly clock: Clock
}

/** Updates metrics at a scrape. */
export class ScrapeHook {
  readonly #options: ScrapeHookOptions
  #lastRun: Promise<void> | undefined
  #startedAt = 0

  constructor(options: ScrapeHookOptions) {
    this.#options = options
  }

  /** Never rejects. */
  run(): Promise<void> {
    const { clock, keepMs } = this.#options
    const now = clock.monotonic()
    if (this.#lastRun && now - this.#startedAt < keepMs) return this.#lastRun
    this.#startedAt = now
    this.#lastRun = this.#collect()
    return this.#lastRun
  }

  async #collect(): Promise<void> {
    const { collect, gauges, logger } = this.#options
    const timeout = Promise.withResolvers<never>()
    const timer = setTimeout(() => timeout.reject(lateError()), TIMEOUT_MS).unref()
    try {
      await Promise.race([Promise.try(collect), timeout.promise])
    } catch (error) {
      for (const gauge of gauges) gauge.clear()
      logger.warn({ error: errorMessage(error) }, 'a metric could not be updated')
    } finally {
      clearTimeout(timer)
    }
  }
}

function lateError(): Error {
  return new Error(`A hook took longer than ${TIMEOUT_MS} ms.`)
}
