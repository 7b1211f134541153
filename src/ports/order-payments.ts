import type { Tx } from '../store/store.ts'

/** What the orders need of the payments. */
export interface OrderPayments {
  /** An order is no longer pending: its open payments are closed at the provider, after the commit. */
  orderLeftPending(tx: Tx, orderId: string): Promise<void>
  /** Asks the providers once for the open payments of orders that are about to expire; resolves within 5 seconds. */
  askBeforeExpiry(orderIds: readonly string[]): Promise<void>
}
