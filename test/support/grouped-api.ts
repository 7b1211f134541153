import { sql } from 'kysely'
import { Alerts, alertsDomain } from '../../src/domains/alerts/index.ts'
import { alertRoutes } from '../../src/domains/alerts/routes.ts'
import { Messages } from '../../src/domains/messages/index.ts'
import { Orders, ordersDomain } from '../../src/domains/orders/index.ts'
import { orderRoutes } from '../../src/domains/orders/routes.ts'
import { telemetryRoutes } from '../../src/domains/telemetry/routes.ts'
import { Telemetry } from '../../src/domains/telemetry/service.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { HOUR } from '../../src/kernel/time.ts'
import type { Store, Tx } from '../../src/store/store.ts'
import { noNotifications } from './alerts.ts'
import { anyAlerts } from './declared-alerts.ts'
import { NO_PAYMENTS } from './orders.ts'
import { startRouteServer, type RouteServer } from './route-server.ts'

/** The API of one process, with the operations whose writes share transactions. */
export function startGroupedApi(store: Store): Promise<RouteServer> {
  const clock = systemClock
  const shared = { store, clock, logger: silentLogger, metrics: noMetrics }
  const delivery = { wake: () => undefined, waitForSettlement: async () => undefined }
  const raised = {
    raise: () => Promise.reject(new Error('no alert is expected')),
    recoverIfRaised: async () => undefined,
  }
  const messages = new Messages({ ...shared, delivery, alerts: raised })
  const orders = new Orders({
    ...shared,
    expiryMs: HOUR,
    events: messages.eventsOf('orders', ordersDomain.encodeEvent),
    alerts: raised,
    payments: { ...NO_PAYMENTS, orderLeftPending },
  })
  const alerts = new Alerts({
    ...shared,
    events: messages.eventsOf('alerts', alertsDomain.encodeEvent),
    notifications: noNotifications,
    acknowledgeForMs: HOUR,
    declared: anyAlerts,
  })
  const telemetry = new Telemetry({
    ...shared,
    delivery,
    newestMessage: messages.newestNumber,
    maxPending: 10_000,
    ratePerSecond: 10_000,
  })
  const routes = [
    ...orderRoutes(orders),
    ...alertRoutes(alerts),
    ...telemetryRoutes(telemetry, () => clock.now()),
  ]
  return startRouteServer({ store, clock, routes })
}

/** A move of a pending order takes longer than the next one, so their events could change places. */
async function orderLeftPending({ db }: Tx): Promise<void> {
  for (let statements = 0; statements < 3; statements++) await db.selectFrom('orders').select('seq').execute()
}

export async function rowsOf<R>({ read }: Store, text: string): Promise<R[]> {
  return (await sql.raw<R>(text).execute(read.db)).rows
}
