import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { ORDER_ALERTS, ORDER_EVENTS } from './model.ts'
import { expireDueCommand, orderArchiveJob, orderCountJob, orderTimeoutJob } from './jobs.ts'
import { ORDER_ERRORS, ORDER_READERS, orderRoutes, encodeOrder, OrderSchema } from './routes.ts'
import { Orders, type OrderDeps } from './service.ts'
import { names } from './tables.ts'

export type { Order, OrderChange, OrderStatus } from './model.ts'
export { Orders, type OrderDeps } from './service.ts'

interface OrderSettings {
  readonly scanEveryMs: number
  /** How long after its end an order moves to the archive; undefined: never. */
  readonly archiveAfterMs: number | undefined
}

/** Orders of the shop and the live-ordering client (docs/specification.md, Orders). */
export const ordersDomain = defineDomain({
  name: 'orders',
  tables: names,
  events: ORDER_EVENTS,
  eventSchemas: { 'order.*': OrderSchema },
  eventReaders: ORDER_READERS,
  errors: ORDER_ERRORS,
  alerts: ORDER_ALERTS,
  encodeEvent: encodeOrder,
  create: (deps: OrderDeps & OrderSettings) => {
    const orders = new Orders(deps)
    const { archiveAfterMs } = deps
    return {
      service: orders,
      routes: orderRoutes(orders),
      jobs: {
        api: [orderCountJob(orders, deps.metrics)],
        worker: [
          orderTimeoutJob(orders, deps.scanEveryMs),
          ...(archiveAfterMs === undefined ? [] : [orderArchiveJob(orders, archiveAfterMs)]),
        ],
      },
      builtInCommands: [expireDueCommand(orders)],
    } satisfies DomainParts
  },
})
