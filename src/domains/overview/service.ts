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
    const read = async <T>({ readers, read: readPart }: PartSource<T>) =>
      hasRole(identity, readers) ? readPart(identity) : null
    const at = clock.now()
    return {
      at,
      orders: await read(sources.orders),
      messages: await read(sources.messages),
      alerts: await read(sources.alerts),
      heartbeats: await read(sources.heartbeats),
      tickets: await read(sources.tickets),
      sessions: await read(sources.sessions),
      pool: await read(sources.pool),
      certificates: await read(sources.certificates),
      dataBackups: await read(sources.dataBackups),
      night: await read(sources.night),
      drill: await read(sources.drill),
      executions: await read(sources.executions),
      payments: await read(sources.payments),
    }
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
