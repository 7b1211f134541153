import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { expireDueCommand } from './commands.ts'
import { ORDER_EVENTS } from './events.ts'
import { orderCountJob, orderTimeoutJob } from './jobs.ts'
import { ORDER_ERRORS, ORDER_READERS, orderRoutes } from './routes.ts'
import { encodeOrder } from './schemas.ts'
import { Orders, type OrderDeps } from './service.ts'
import { names } from './tables.ts'

export type { Order, OrderChange, OrderStatus } from './model.ts'
export { Orders, type OrderDeps } from './service.ts'

/** Orders of the shop and the live-ordering client (docs/specification.md, Orders). */
export const ordersDomain = defineDomain({
  name: 'orders',
  tables: names,
  events: ORDER_EVENTS,
  eventReaders: ORDER_READERS,
  errors: ORDER_ERRORS,
  encodeEvent: encodeOrder,
  create: (deps: OrderDeps & { readonly scanEveryMs: number }) => {
    const orders = new Orders(deps)
    return {
      orders,
      routes: orderRoutes(orders),
      jobs: {
        api: [orderCountJob(orders, deps.metrics)],
        worker: [orderTimeoutJob(orders, deps.scanEveryMs)],
      },
      builtInCommands: [expireDueCommand(orders)],
    } satisfies DomainParts & { orders: Orders }
  },
})
