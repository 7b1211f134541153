import type { AlertsTable } from '../domains/alerts/tables.ts'
import type { MessagesTable } from '../domains/messages/tables.ts'
import type { OrderHistoryTable, OrdersTable } from '../domains/orders/tables.ts'
import type { UsersTable } from '../domains/users/tables.ts'
import type {
  VpnAuditTable,
  VpnGatewaysTable,
  VpnLeasesTable,
  VpnPoolsTable,
  VpnSessionsTable,
} from '../domains/vpn/tables.ts'

/** One answer that was given under an `Idempotency-Key`, kept for its 24 hours (contract, section 3). */
export interface IdempotencyKeysTable {
  caller: string
  key: string
  request_hash: string
  status: number
  /** JSON of headers and body, as they were sent. */
  answer: string
  created_at: number
}

/** Who may do a thing that one process at a time does, and until when. */
export interface LeasesTable {
  name: string
  holder: string
  expires_at: number
}

/** Every table of the database, by its name. Row types belong to the domains; all times are epoch milliseconds. */
export interface Tables {
  alerts: AlertsTable
  idempotency_keys: IdempotencyKeysTable
  leases: LeasesTable
  messages: MessagesTable
  order_history: OrderHistoryTable
  orders: OrdersTable
  users: UsersTable
  vpn_audit: VpnAuditTable
  vpn_gateways: VpnGatewaysTable
  vpn_leases: VpnLeasesTable
  vpn_pools: VpnPoolsTable
  vpn_sessions: VpnSessionsTable
}
