import type { Clock } from '../../src/kernel/clock.ts'
import { toRfc3339 } from '../../src/kernel/time.ts'
import type { GatewayAddress } from './addresses.ts'
import type { GatewaySession } from './session.ts'

export type VpnState = 'connecting' | 'connected' | 'disconnected' | 'expiring'

/** A change of state, in the form that `platform vpn connect --json` prints (docs/specification.md, Gateway). */
export interface VpnEvent {
  /** RFC 3339. */
  readonly at: string
  readonly state: VpnState
  /** As it was given to the client. */
  readonly gateway: string
  readonly virtual_ip?: string
  /** May contain text of the gateway, which is not to be trusted; never the token. */
  readonly reason?: string
}

type Details = Pick<VpnEvent, 'virtual_ip' | 'reason'>

/** Reports changes only: an attempt that fails for the same reason as the one before it is not reported. */
export class StateReport {
  readonly #onState: (event: VpnEvent) => void
  readonly #clock: Clock
  /** Gateway → the reason of its last failure, since the last session. */
  readonly #failures = new Map<string, string>()
  #tokenProblem: string | undefined
  #lastReported = ''

  constructor(onState: (event: VpnEvent) => void, clock: Clock) {
    this.#onState = onState
    this.#clock = clock
  }

  connecting(gateway: GatewayAddress): void {
    if (!this.#failures.has(gateway.text)) this.#report('connecting', gateway, {})
  }

  /** An attempt failed. */
  failed(gateway: GatewayAddress, reason: string): void {
    if (this.#failures.get(gateway.text) === reason) return
    this.#failures.set(gateway.text, reason)
    this.#report('disconnected', gateway, { reason })
  }

  /** Reports that there is no token for the gateway; the next attempt is reported again. */
  tokenMissing(gateway: GatewayAddress, reason: string): void {
    if (this.#tokenProblem === reason) return
    this.#tokenProblem = reason
    this.#failures.clear()
    this.#report('disconnected', gateway, { reason })
  }

  connected({ gateway, virtualIp }: GatewaySession): void {
    this.#tokenProblem = undefined
    this.#failures.clear()
    this.#report('connected', gateway, { virtual_ip: virtualIp })
  }

  lost({ gateway, virtualIp }: GatewaySession, reason: string): void {
    this.#report('disconnected', gateway, { virtual_ip: virtualIp, reason })
  }

  expiring({ gateway, virtualIp }: GatewaySession, reason: string): void {
    this.#report('expiring', gateway, { virtual_ip: virtualIp, reason })
  }

  #report(state: VpnState, { text }: GatewayAddress, details: Details): void {
    const change = { state, gateway: text, ...details }
    if (JSON.stringify(change) === this.#lastReported) return
    this.#lastReported = JSON.stringify(change)
    this.#onState({ at: toRfc3339(this.#clock.now()), ...change })
  }
}
