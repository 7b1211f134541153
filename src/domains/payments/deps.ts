import type { WaitingClock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { RecoverableAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import type { PaymentChannel } from '../../ports/payments.ts'
import type { Store, Tx } from '../../store/store.ts'
import type { Payment } from './model.ts'
import type { Reconciliation } from './reconciliation/model.ts'

/** An order as the payments see it. */
export interface PayableOrder {
  readonly orderId: string
  readonly amountCents: number
  readonly status: string
  readonly expiresAt: number
}

/** What the domain of payments needs of the rest of the platform. */
export interface PaymentDeps {
  readonly store: Store
  readonly clock: WaitingClock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly events: EventSink<Payment | Reconciliation>
  readonly alerts: RecoverableAlerts
  readonly orders: {
    /** Rejects with `order_not_found`. */
    get(orderId: string): Promise<PayableOrder>
    find(tx: Tx, orderId: string): Promise<PayableOrder | undefined>
    /** Moves a pending order to paid; `false` if it is not pending. */
    pay(tx: Tx, orderId: string, actor: string): Promise<boolean>
  }
  /** The configured channels by name; none: there are no payments. */
  readonly channels: ReadonlyMap<string, PaymentChannel>
  /** ISO 4217. */
  readonly currency: string
  /** Whether `late` and `duplicate` payments are refunded without a person. */
  readonly refundLate: boolean
  /** The time zone of `reconcileAt`, and of the days for which payments of Stripe are reconciled. */
  readonly timeZone: string
  /** When the daily reconciliation begins, as `HH:MM`. */
  readonly reconcileAt: string
}
