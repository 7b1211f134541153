import { declaredAlarmId } from '../../kernel/alerts.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { SECOND } from '../../kernel/time.ts'
import type { PlatformAlert, PlatformAlerts } from '../../ports/alerts.ts'
import type { Store, TouchedRow, Tx } from '../../store/store.ts'
import {
  ALERTS_OF_POOL,
  nextAlert,
  POOL_ALERTS,
  type AlertPercent,
  type LeaseHolder,
  type PoolUsage,
} from './model.ts'
import { parseRange, type AddressRange } from './addresses.ts'
import { coolDownLimits, deviceRows, leaseAddress, releaseAddress, type CoolDown } from './leases.ts'
import {
  changeAlert,
  countCooling,
  countLeased,
  countUsed,
  findPool,
  listAlerted,
  openPool,
} from './store.ts'

/** What the address pool needs of the rest of the platform. */
export interface PoolDeps {
  readonly store: Store
  readonly clock: Clock
  readonly alerts: PlatformAlerts
  /** `100.64.0.0/16` */
  readonly cidr: string
  /** How long a released address is reserved for its last holder, in milliseconds. */
  readonly coolDownMs: number
}

/** The virtual addresses of all gateways; one live session holds an address. */
export class AddressPool {
  readonly #deps: PoolDeps
  readonly #range: AddressRange

  constructor(deps: PoolDeps) {
    this.#deps = deps
    this.#range = parseRange(deps.cidr)
  }

  get prefixLength(): number {
    return this.#range.prefixLength
  }

  /** Must come before the first lease. Idempotent. */
  open(tx: Tx): Promise<void> {
    return openPool(tx, this.#range)
  }

  /**
   * Leases an address, as one number of four bytes; the device of the holder gets the address that it had last, if that
   * is free. Rejects with `pool_exhausted`.
   */
  async lease(tx: Tx, holder: LeaseHolder): Promise<number> {
    const address = await leaseAddress(tx, this.#range, holder, this.#coolDown())
    if (address === undefined) throw this.#poolExhausted()
    return address
  }

  /** The rows that a lease for that device touches. */
  touches({ userId, device }: Pick<LeaseHolder, 'userId' | 'device'>): TouchedRow[] {
    return device === null ? [] : [deviceRows(userId, device)]
  }

  /** The last holder can lease the address at once, others after the cool-down. */
  async release(tx: Tx, address: number, sessionId: string, at: number): Promise<void> {
    await releaseAddress(tx, address, sessionId, at)
  }

  async usage(): Promise<PoolUsage> {
    const { read } = this.#deps.store
    const { cidr, size } = this.#range
    const used = await countUsed(read, this.#range)
    const { cooledSince, plausibleUntil } = coolDownLimits(this.#coolDown())
    const cooling = await countCooling(read, cidr, cooledSince, plausibleUntil)
    // An address that is released between the two reads counts twice.
    return { cidr, size, used, cooling, free: Math.max(0, size - used - cooling) }
  }

  /** Updates the alerts of other pools: no process may use them any more. Few pools are read. */
  async updateOtherAlerts(): Promise<void> {
    const { read } = this.#deps.store
    for (const { cidr } of await listAlerted(read)) {
      if (cidr === this.#range.cidr) continue
      const used = await countLeased(read, cidr)
      await this.updateAlert({ cidr, used, size: parseRange(cidr).size })
    }
  }

  /** Raises or recovers the alert of a pool that is nearly exhausted, in one process. */
  async updateAlert(usage: Pick<PoolUsage, 'cidr' | 'used' | 'size'>): Promise<void> {
    const { store, alerts } = this.#deps
    const { cidr } = usage
    // The row does not exist until a gateway has opened the pool.
    const pool = await findPool(store.read, cidr)
    if (!pool) return
    const { alertedPercent: current } = pool
    const next = nextAlert(current, usage)
    if (next === current) return
    await store.write(async (tx) => {
      if (await changeAlert(tx, cidr, current, next)) await alerts.raise(tx, poolAlert(usage, next))
    })
  }

  #coolDown(): CoolDown {
    return { clock: this.#deps.clock, ms: this.#deps.coolDownMs }
  }

  #poolExhausted(): AppError {
    const message = `No virtual address of ${this.#range.cidr} is free; try again later.`
    const retryAfterSeconds = Math.max(1, Math.ceil(this.#deps.coolDownMs / SECOND))
    return new AppError('unavailable', 'pool_exhausted', message, { retryAfterSeconds })
  }
}

function poolAlert(
  { cidr, used, size }: Pick<PoolUsage, 'cidr' | 'used' | 'size'>,
  alerted: AlertPercent,
): PlatformAlert {
  const severity = POOL_ALERTS.find(({ percent }) => percent === alerted)?.severity ?? 'CLOSE'
  return {
    alarmId: declaredAlarmId(ALERTS_OF_POOL, 'vpn.pool:*', cidr),
    source: 'platform.vpn',
    title:
      alerted === 0
        ? 'The address pool has free addresses again'
        : `The address pool is over ${alerted} % used`,
    body: `Sessions hold ${used} of the ${size} addresses of ${cidr}. When none is free, no client can connect.`,
    severity,
  }
}
