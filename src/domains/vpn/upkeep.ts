import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { PlatformAlert, PlatformAlerts } from '../../ports/alerts.ts'
import type { Store } from '../../store/store.ts'
import type { AddressPool } from './addresses.ts'
import type { Ending } from './ending.ts'
import { listWatched, lockSilent, markLeft } from './gateways.ts'
import { markAlerted, readAlerted, readUsage } from './leases.ts'
import { alertedAfter, CLOSE, POOL_ALERTS, type AlertedPercent, type PoolUsage } from './model.ts'
import { createSilenceWatch, type WatchedRun } from './silence.ts'

export interface UpkeepDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly pool: AddressPool
  readonly coolDownMs: number
  readonly ending: Ending
  readonly alerts: PlatformAlerts
}

/** What every live gateway and every worker does again and again; each change is made by one of them. */
export interface Upkeep {
  /** Ends the sessions of gateways that it has seen silent for three of their intervals; answers how many. */
  reclaim(): Promise<number>
  /** Reads how full the pool is, and tells of it when it has become so. */
  watchPool(): Promise<PoolUsage>
}

const TAKEN_FOR_DEAD = {
  code: CLOSE.goingAway,
  reason: 'the gateway was silent for too long',
  isTold: false,
} as const

export function createUpkeep(deps: UpkeepDeps): Upkeep {
  const { store, clock, logger, pool, ending } = deps

  const watch = createSilenceWatch(clock)

  const bury = async (run: WatchedRun): Promise<number> => {
    const ended = await ending.endRun(run.runId, TAKEN_FOR_DEAD, (tx) => lockSilent(tx, run))
    await store.write(async (tx) => {
      if (await lockSilent(tx, run)) await markLeft(tx, run.runId, clock.now())
    })
    return ended
  }

  const tell = (usage: PoolUsage, from: AlertedPercent, to: AlertedPercent) =>
    store.write(async (tx) => {
      if (await markAlerted(tx, pool, from, to)) await deps.alerts.raise(tx, poolAlert(usage, to))
    })

  return {
    async reclaim() {
      let reclaimed = 0
      for (const run of watch.look(await listWatched(store.read))) {
        const ended = await bury(run)
        if (ended > 0)
          logger.warn({ gateway: run.name, sessions: ended }, 'a silent gateway lost its sessions')
        reclaimed += ended
      }
      return reclaimed
    },
    async watchPool() {
      const usage = await readUsage(store.read, pool, { now: clock.now(), ms: deps.coolDownMs })
      const before = await readAlerted(store.read, pool)
      if (before === undefined) return usage
      const after = alertedAfter(before, usage)
      if (after !== before) await tell(usage, before, after)
      return usage
    },
  }
}

function poolAlert({ cidr, used, size }: PoolUsage, alerted: AlertedPercent): PlatformAlert {
  const severity = POOL_ALERTS.find(({ percent }) => percent === alerted)?.severity ?? 'CLOSE'
  const title =
    alerted === 0 ? 'The address pool has room again' : `The address pool is over ${alerted} % used`
  return {
    alarmId: `vpn.pool:${cidr}`,
    source: 'platform.vpn',
    title,
    body: `${used} of the ${size} addresses of ${cidr} are held by sessions. Once none is free, no client can connect.`,
    severity,
  }
}
