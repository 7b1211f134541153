import { encodeCursor } from '../../../src/wire/cursor.ts'

const NEWEST = ['newest', 1] as const
const OLDEST = ['oldest', 1] as const

/** The list, the order and a position of the cursor of each operation that lists. */
const POSITIONS: Readonly<Record<string, readonly [list: string, order: string, value: string | number]>> = {
  listMessages: ['messages', ...NEWEST],
  listOrders: ['orders', ...NEWEST],
  listPayments: ['payments', ...NEWEST],
  listPaymentsOfOrder: ['payments', ...NEWEST],
  listRefunds: ['payment_refunds', ...NEWEST],
  listReconciliations: ['payment_reconciliations', ...NEWEST],
  listPaymentDifferences: ['payment_differences', ...OLDEST],
  listUsers: ['users', ...NEWEST],
  listApiTokens: ['api_tokens', ...NEWEST],
  listVpnSessions: ['vpn_sessions', ...NEWEST],
  listVpnAudit: ['vpn_audit', ...NEWEST],
  listAudit: ['audit_entries', ...NEWEST],
  listAlerts: ['alerts', ...NEWEST],
  getAlertHistory: ['alert_history', ...OLDEST],
  listSilences: ['alert_silences', ...NEWEST],
  listAlertDecisions: ['alert_notifications', ...NEWEST],
  listReceivers: ['receivers', 'name', 'a'],
  listHeartbeats: ['heartbeats', ...NEWEST],
  listHeartbeatPings: ['heartbeat_pings', ...NEWEST],
  listWebhooks: ['webhooks', ...NEWEST],
  listWebhookDeliveries: ['webhook_deliveries', ...NEWEST],
  listTickets: ['tickets', ...NEWEST],
  listTicketComments: ['ticket_changes', ...NEWEST],
  getTicketHistory: ['ticket_changes', ...OLDEST],
  listCertificates: ['certificates', ...NEWEST],
  listDataBackups: ['data_backups', ...NEWEST],
  listTelemetryAgents: ['telemetry_agents', ...NEWEST],
  listCommands: ['commands', 'id', 'a'],
  listExecutions: ['command_executions', ...NEWEST],
  getCommandPolicyHistory: ['command_policies', ...NEWEST],
}

// Their sample names an object that does not exist, which is said first.
const OF_AN_OBJECT =
  /^(getAlertHistory|listAlertDecisions|listHeartbeatPings|listWebhookDeliveries|listTicketComments|getTicketHistory|listPaymentsOfOrder|listRefunds|listPaymentDifferences)$/

/** A cursor of that operation. */
export function cursorOf(operation: string): string {
  const [list, order, value] = POSITIONS[operation] ?? ['unknown', ...NEWEST]
  return encodeCursor({ list, order, values: [value] })
}

/** For each operation that lists: its cursor, and those of all others that have another list or order. */
export function cursorCases() {
  return Object.keys(POSITIONS).map((operation) => {
    const own = cursorOf(operation)
    const others = Object.keys(POSITIONS)
      .map(cursorOf)
      .filter((each) => each !== own && !OF_AN_OBJECT.test(operation))
    return {
      field: new RegExp(`^${operation}\\.cursor$`),
      good: [own],
      bad: ['', 'x', 'cDE', '1', 'a'.repeat(1_024), ...others],
    }
  })
}
