import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { INTERVALS_UNTIL_DEAD } from '../../kernel/gateway-silence.ts'
import type { Logger } from '../../kernel/logger.ts'
import { SECOND, toRfc3339 } from '../../kernel/time.ts'
import { createLease, type Lease } from '../../store/lease.ts'
import type { Store } from '../../store/store.ts'
import { findRunning, type RunningGateway } from './gateways.ts'

export interface GatewayNameDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The name of a gateway. At most one running gateway on a database has it, because a gateway that starts closes the
 * sessions of earlier runs of its name.
 */
export class GatewayName {
  readonly #deps: GatewayNameDeps
  readonly #name: string
  readonly #untilDeadMs: number
  readonly #lease: Lease
  #isLost = false

  constructor(deps: GatewayNameDeps, { name, heartbeatMs }: { name: string; heartbeatMs: number }) {
    this.#deps = deps
    this.#name = name
    this.#untilDeadMs = INTERVALS_UNTIL_DEAD * heartbeatMs
    this.#lease = createLease({ ...deps, name: `gateway:${name}`, ttlMs: this.#untilDeadMs })
  }

  /** Rejects with `gateway_name_in_use` while another gateway with the name is running. */
  async take(): Promise<void> {
    if (await this.#lease.hold()) return
    throw this.#inUse(await findRunning(this.#deps.store.read, this.#name))
  }

  /** Keeps the name. A gateway that was frozen may find that another one has it. */
  async renew(): Promise<void> {
    const wasLost = this.#isLost
    this.#isLost = !(await this.#lease.hold())
    if (this.#isLost && !wasLost)
      this.#deps.logger.error(
        { gateway: this.#name },
        'another gateway has taken gateway.name; rename one of them',
      )
  }

  async release(): Promise<void> {
    await this.#lease.release()
  }

  #inUse(running: RunningGateway | undefined): AppError {
    const other = running
      ? `the gateway at ${running.address} since ${toRfc3339(running.startedAt)}`
      : 'another gateway'
    const message =
      `gateway.name: ${JSON.stringify(this.#name)} is in use by ${other}; stop that gateway (on its host ss -ltnp shows ` +
      'its process), or set another gateway.name. On this host the name of a gateway that has crashed is free at once; ' +
      `on another host, or in another container, it is free after ${this.#untilDeadMs / SECOND} s.`
    return new AppError('unavailable', 'gateway_name_in_use', message)
  }
}
