import type { Clock } from '../../src/kernel/clock.ts'
import { toRfc3339 } from '../../src/kernel/time.ts'
import type { GatewayAddress } from './addresses.ts'
import type { GatewaySession } from './session.ts'

export type VpnState = 'connecting' | 'connected' | 'disconnected' | 'expiring'

/** A change of state, in the shape that `platform vpn connect --json` prints (docs/specification.md, Gateway). */
export interface VpnEvent {
  /** RFC 3339. */
  readonly at: string
  readonly state: VpnState
  /** As it was named to the client. */
  readonly gateway: string
  readonly virtual_ip?: string
  /** May hold text of the gateway: not to be trusted, but free of the token. */
  readonly reason?: string
}

export interface VpnReport {
  connecting(gateway: GatewayAddress): void
  /** An attempt came to nothing. */
  failed(gateway: GatewayAddress, reason: string): void
  /** There is no token to try that gateway with; the next attempt is told anew. */
  lackingToken(gateway: GatewayAddress, reason: string): void
  connected(session: GatewaySession): void
  lost(session: GatewaySession, reason: string): void
  expiring(session: GatewaySession, reason: string): void
}

/**
 * Tells changes only: while gateways are tried again and again, an attempt that ends as the one before it did is not
 * told.
 */
export function createVpnReport(onState: (event: VpnEvent) => void, clock: Clock): VpnReport {
  const failures = new Map<string, string>()
  let lack: string | undefined
  let lastTold = ''
  const tell = (
    state: VpnState,
    { text }: GatewayAddress,
    details: Pick<VpnEvent, 'virtual_ip' | 'reason'>,
  ) => {
    const news = { state, gateway: text, ...details }
    if (JSON.stringify(news) === lastTold) return
    lastTold = JSON.stringify(news)
    onState({ at: toRfc3339(clock.now()), ...news })
  }

  return {
    connecting(gateway) {
      if (!failures.has(gateway.text)) tell('connecting', gateway, {})
    },
    failed(gateway, reason) {
      if (failures.get(gateway.text) === reason) return
      failures.set(gateway.text, reason)
      tell('disconnected', gateway, { reason })
    },
    lackingToken(gateway, reason) {
      if (lack === reason) return
      lack = reason
      failures.clear()
      tell('disconnected', gateway, { reason })
    },
    connected({ gateway, virtualIp }) {
      lack = undefined
      failures.clear()
      tell('connected', gateway, { virtual_ip: virtualIp })
    },
    lost({ gateway, virtualIp }, reason) {
      tell('disconnected', gateway, { virtual_ip: virtualIp, reason })
    },
    expiring({ gateway, virtualIp }, reason) {
      tell('expiring', gateway, { virtual_ip: virtualIp, reason })
    },
  }
}
