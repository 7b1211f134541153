import type { Clock } from '../../kernel/clock.ts'
import { hasRole, type Identity } from '../../kernel/identity.ts'
import { STEP_MS, type Step } from './model.ts'
import type { OverviewView, PartSource, PartSources } from './parts.ts'
import type { RollUp } from './roll-up.ts'

export interface OverviewOptions {
  readonly clock: Clock
  readonly rollUp: Pick<RollUp, 'series'>
  readonly sources: PartSources
}

/** The series as one caller may read it. */
export interface Series {
  readonly from: number
  /** The end of the last step, which is in progress. */
  readonly to: number
  readonly items: readonly Step[]
}

const HIDDEN_ORDERS = { created: null, paid: null, shipped: null, completed: null, expired: null }

/** The state of the whole platform for one caller. */
export class Overview {
  readonly #options: OverviewOptions

  constructor(options: OverviewOptions) {
    this.#options = options
  }

  async read(identity: Identity): Promise<OverviewView> {
    const { clock, sources } = this.#options
    const at = clock.now()
    const parts: Record<string, unknown> = {}
    for (const [name, source] of Object.entries<PartSource<unknown>>(sources))
      parts[name] = hasRole(identity, source.readers) ? await source.read(identity) : null
    return { at, ...(parts as Omit<OverviewView, 'at'>) }
  }

  async series(hours: number, identity: Identity): Promise<Series> {
    const { rollUp, sources } = this.#options
    const steps = await rollUp.series(hours)
    const hidden = {
      ...(!hasRole(identity, sources.orders.readers) && HIDDEN_ORDERS),
      ...(!hasRole(identity, sources.alerts.readers) && { firingAlerts: null }),
      ...(!hasRole(identity, sources.sessions.readers) && { openSessions: null }),
    }
    const items = steps.map((step) => ({ ...step, ...hidden }))
    return { from: items[0]?.at ?? 0, to: (items.at(-1)?.at ?? 0) + STEP_MS, items }
  }
}
