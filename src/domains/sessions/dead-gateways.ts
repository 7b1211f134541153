import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Store } from '../../store/store.ts'
import type { SessionCloser } from './closing.ts'
import { listWatched, lockSilent, markLeft } from './gateways.ts'
import { END_CODES } from './model.ts'
import { SilenceWatch, type WatchedRun } from './silence.ts'
import { END_REASONS } from '../../kernel/end-reasons.ts'

export interface DeadGatewaysDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly closer: SessionCloser
}

const PRESUMED_DEAD = {
  code: END_CODES.goingAway,
  reason: END_REASONS.gateway_silent,
  decidedBy: 'elsewhere',
} as const

/** Watches the gateways of all processes, and closes the sessions of dead gateways. */
export class DeadGateways {
  readonly #deps: DeadGatewaysDeps
  readonly #watch: SilenceWatch

  constructor(deps: DeadGatewaysDeps) {
    this.#deps = deps
    this.#watch = new SilenceWatch(deps.clock)
  }

  /** Closes the sessions of gateways that were silent for three of their intervals; returns how many. */
  async reclaim(): Promise<number> {
    let total = 0
    for (const run of this.#watch.findSilent(await listWatched(this.#deps.store.read)))
      total += await this.#reclaimOf(run)
    return total
  }

  async #reclaimOf(run: WatchedRun): Promise<number> {
    const { store, clock, logger, closer } = this.#deps
    const closed = await closer.closeOfRun(run.runId, PRESUMED_DEAD, (tx) => lockSilent(tx, run))
    await store.write(async (tx) => {
      if (await lockSilent(tx, run)) await markLeft(tx, run.runId, clock.now())
    })
    if (closed > 0)
      logger.warn({ gateway: run.name, sessions: closed }, 'closed the sessions of a dead gateway')
    return closed
  }
}
