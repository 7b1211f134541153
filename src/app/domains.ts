import type { Config } from '../config/config.ts'
import { createAlertService } from '../domains/alerts/index.ts'
import { createMessageService } from '../domains/messages/index.ts'
import { createOrderService } from '../domains/orders/index.ts'
import { createVpnService } from '../domains/vpn/index.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Delivery } from '../ports/outbox.ts'
import type { Store } from '../store/store.ts'

export interface DomainParts {
  readonly config: Config
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly delivery: Delivery
  /** Whose events these domains write. */
  readonly module: string
}

/** The domains, wired to one another. Messages raise alerts and alerts write messages, so one of them is told late. */
export function createDomains(parts: DomainParts) {
  const messages = createMessageService({
    ...parts,
    alerts: { raise: (tx, alert) => alerts.raise(tx, alert) },
  })
  const alerts = createAlertService({ ...parts, events: messages })
  const orders = createOrderService({
    ...parts,
    expiryMs: parts.config.orders.expiryMs,
    events: messages,
    alerts,
  })
  const vpn = createVpnService({
    ...parts,
    pool: parts.config.vpn.ipPool.text,
    coolDownMs: parts.config.vpn.coolDownMs,
    events: messages,
    alerts,
  })
  return { messages, alerts, orders, vpn }
}
