import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listDecisions } from '../../src/domains/alerts/notifications/store.ts'
import { listSilences } from '../../src/domains/alerts/silences/store.ts'
import { listAlerts, listHistory, MOST_SEVERE_FIRST } from '../../src/domains/alerts/store.ts'
import { listCertificates, SOONEST_END_FIRST } from '../../src/domains/certificates/store.ts'
import { listBackups } from '../../src/domains/data-backups/store.ts'
import { listExecutions, listPolicies } from '../../src/domains/commands/store.ts'
import { listEntries } from '../../src/domains/audit/store.ts'
import { listHeartbeats } from '../../src/domains/heartbeats/store.ts'
import { listMessages } from '../../src/domains/messages/store.ts'
import { listArchivable } from '../../src/domains/orders/archive.ts'
import { listOrders, sortOf } from '../../src/domains/orders/list.ts'
import { listAudit } from '../../src/domains/sessions/audit.ts'
import { listSessions } from '../../src/domains/sessions/store.ts'
import { listAgents } from '../../src/domains/telemetry/store.ts'
import { listComments, listTickets, listTicketChanges } from '../../src/domains/tickets/store.ts'
import { listDifferences, listReconciliations } from '../../src/domains/payments/reconciliation/store.ts'
import { listPayments, listRefunds } from '../../src/domains/payments/store.ts'
import { listDeliveries, listWebhooks } from '../../src/domains/webhooks/store.ts'
import { readChanges } from '../../src/domains/users/change-log.ts'
import { listUsers } from '../../src/domains/users/store.ts'
import { OLDEST_FIRST } from '../../src/kernel/page.ts'
import type { Queries } from '../../src/store/store.ts'
import { alertWorld, FAILED } from '../support/alerts.ts'
import { plansOf } from '../support/query-plan.ts'
import { testStore } from '../support/store.ts'

// Pages behind the first one.
const NEWEST = { limit: 100, after: { order: 'newest', values: [9] } }
const SOONEST_END = {
  limit: 100,
  order: SOONEST_END_FIRST,
  after: { order: 'not_after', values: [9, 9] },
}
const MOST_SEVERE = {
  limit: 100,
  order: MOST_SEVERE_FIRST,
  after: { order: 'severity', values: [6, 9] },
}
const BY_ID = {
  limit: 100,
  order: sortOf({ idPrefix: 'o-' }),
  after: { order: 'id', values: ['o-9'] },
}
const LATEST_END = { limit: 100, order: sortOf({ endedFrom: 1 }), after: { order: 'ended', values: [9, 9] } }
const SOONEST_EXPIRY = {
  limit: 100,
  order: sortOf({ due: true }),
  after: { order: 'expires_at', values: [9, 9] },
}
const FIRST_UPDATE = {
  limit: 100,
  order: sortOf({ updatedFrom: 1 }),
  after: { order: 'updated', values: [9, 9] },
}
const OLDEST = { limit: 100, order: OLDEST_FIRST, after: { order: 'oldest', values: [9] } }

type Read = (queries: Queries) => Promise<unknown>

const LISTS: readonly (readonly [what: string, read: Read, plan: RegExp])[] = [
  ['orders', (on) => listOrders(on, {}, NEWEST), /^SEARCH orders USING INTEGER PRIMARY KEY \(rowid<\?\)$/],
  [
    'pending orders',
    (on) => listOrders(on, { status: 'pending' }, NEWEST),
    /^SEARCH orders USING INDEX orders_by_status \(status=\? AND seq<\?\)$/,
  ],
  [
    'orders of a platform',
    (on) => listOrders(on, { platform: 'live' }, NEWEST),
    /^SEARCH orders USING INDEX orders_by_platform \(platform=\? AND seq<\?\)$/,
  ],
  [
    'archived orders',
    (on) => listOrders(on, { archived: true }, NEWEST),
    /^SEARCH archived_orders USING INTEGER PRIMARY KEY \(rowid<\?\)$/,
  ],
  [
    'expired archived orders',
    (on) => listOrders(on, { archived: true, status: 'expired' }, NEWEST),
    /^SEARCH archived_orders USING INDEX archived_orders_by_status \(status=\? AND seq<\?\)$/,
  ],
  [
    'orders whose id begins with a text',
    (on) => listOrders(on, { idPrefix: 'o-' }, BY_ID),
    /^SEARCH orders USING INDEX sqlite_autoindex_orders_1 \(order_id>\? AND order_id<\?\)$/,
  ],
  [
    'pending orders of a platform whose id begins with a text',
    (on) => listOrders(on, { idPrefix: 'o-', status: 'pending', platform: 'live' }, BY_ID),
    /^SEARCH orders USING INDEX sqlite_autoindex_orders_1 \(order_id>\? AND order_id<\?\)$/,
  ],
  [
    'expired orders of a platform by their end',
    (on) => listOrders(on, { status: 'expired', platform: 'live', endedFrom: 1, endedTo: 9 }, LATEST_END),
    /^SEARCH orders USING INDEX orders_ended \(updated_at>\? AND updated_at<\?\)$/,
  ],
  [
    'archived orders by their end',
    (on) => listOrders(on, { archived: true, endedFrom: 1 }, LATEST_END),
    /^SEARCH archived_orders USING INDEX archived_orders_by_end \(updated_at>\? AND updated_at<\?\)$/,
  ],
  [
    'pending orders by their expiry',
    (on) => listOrders(on, { due: true }, SOONEST_EXPIRY),
    /^SEARCH orders USING INDEX orders_due \(status=\? AND expires_at>\?\)$/,
  ],
  [
    'pending orders of a platform that expire in a time range',
    (on) =>
      listOrders(on, { status: 'pending', platform: 'live', expiresFrom: 1, expiresTo: 9 }, SOONEST_EXPIRY),
    /^SEARCH orders USING INDEX orders_due \(status=\? AND expires_at>\? AND expires_at<\?\)$/,
  ],
  [
    'paid orders of a platform by their last change',
    (on) => listOrders(on, { status: 'paid', platform: 'live', updatedFrom: 1 }, FIRST_UPDATE),
    /^SEARCH orders USING INDEX orders_by_update \(updated_at>\?\)$/,
  ],
  [
    'orders with one of several statuses',
    (on) => listOrders(on, { status: ['pending', 'paid'] }, NEWEST),
    /SEARCH orders USING INDEX orders_by_status \(status=\? AND seq<\?\).*SEARCH orders USING INDEX orders_by_status \(status=\? AND seq<\?\)/,
  ],
  [
    'orders for the archive',
    (on) => listArchivable(on, 9, 100),
    /SEARCH orders USING (COVERING )?INDEX orders_ended \(updated_at<\?\)/,
  ],
  [
    'dead messages',
    (on) => listMessages(on, { status: 'dead' }, NEWEST),
    /^SEARCH messages USING INDEX messages_dead \(status=\? AND seq<\?\)$/,
  ],
  [
    'messages of a subject',
    (on) => listMessages(on, { subject: 's' }, NEWEST),
    /^SEARCH messages USING INDEX messages_by_subject \(subject=\? AND seq<\?\)$/,
  ],
  ['users', (on) => listUsers(on, {}, NEWEST), /^SEARCH users USING INTEGER PRIMARY KEY \(rowid<\?\)$/],
  [
    'agents',
    (on) => listAgents(on, {}, NEWEST),
    /^SEARCH telemetry_agents USING INTEGER PRIMARY KEY \(rowid<\?\)$/,
  ],
  [
    'heartbeats',
    (on) => listHeartbeats(on, {}, NEWEST),
    /^SEARCH heartbeats USING INTEGER PRIMARY KEY \(rowid<\?\)$/,
  ],
  [
    'webhooks',
    (on) => listWebhooks(on, {}, NEWEST),
    /^SEARCH webhooks USING INTEGER PRIMARY KEY \(rowid<\?\)$/,
  ],
  [
    'deliveries of a webhook',
    (on) => listDeliveries(on, { webhookId: 'w' }, NEWEST),
    /^SEARCH webhook_deliveries USING INDEX webhook_deliveries_by_webhook \(webhook_id=\? AND seq<\?\)$/,
  ],
  [
    'deliveries of a webhook by status',
    (on) => listDeliveries(on, { webhookId: 'w', status: 'failed' }, NEWEST),
    /^SEARCH webhook_deliveries USING INDEX webhook_deliveries_by_status \(webhook_id=\? AND status=\? AND seq<\?\)$/,
  ],
  [
    'certificates',
    (on) => listCertificates(on, {}, 1, NEWEST),
    /^SEARCH certificates USING INTEGER PRIMARY KEY \(rowid<\?\)$/,
  ],
  [
    'certificates by their end',
    (on) => listCertificates(on, {}, 1, SOONEST_END),
    /^SEARCH certificates USING INDEX certificates_by_end \(not_after>\?\)$/,
  ],
  [
    'expiring certificates by their end',
    (on) => listCertificates(on, { status: 'expiring', expiresBefore: 9 }, 1, SOONEST_END),
    /^SEARCH certificates USING INDEX certificates_by_end \(not_after>\? AND not_after<\?\)$/,
  ],
  [
    'payments',
    (on) => listPayments(on, {}, NEWEST),
    /^SEARCH payments USING INTEGER PRIMARY KEY \(rowid<\?\)$/,
  ],
  ...(
    [
      ['order_id', { orderId: 'o-1' }],
      ['channel', { channel: 'wechat' }],
      ['status', { status: 'open' }],
    ] as const
  ).map(
    ([column, filter]) =>
      [
        `payments by ${column}`,
        (on: Queries) => listPayments(on, filter, NEWEST),
        new RegExp(
          `^SEARCH payments USING INDEX payments_by_${column} \\(${column}=\\? AND (seq|rowid)<\\?\\)$`,
        ),
      ] as const,
  ),
  [
    'payments that need a person',
    (on) => listPayments(on, { attention: 'any' }, NEWEST),
    /^SEARCH payments USING INDEX payments_need_person \(seq<\?\)$/,
  ],
  [
    'refunds of a payment',
    (on) => listRefunds(on, { paymentId: 'p-1' }, NEWEST),
    /^SEARCH payment_refunds USING INDEX payment_refunds_by_payment \(payment_id=\? AND seq<\?\)$/,
  ],
  [
    'reconciliations',
    (on) => listReconciliations(on, {}, NEWEST),
    /^SEARCH payment_reconciliations USING INTEGER PRIMARY KEY \(rowid<\?\)$/,
  ],
  [
    'differences of a reconciliation',
    (on) => listDifferences(on, { reconciliationId: 'r-1' }, OLDEST),
    /^SEARCH payment_differences USING INDEX payment_differences_by_run \(reconciliation_id=\? AND seq>\?\)$/,
  ],
  [
    'data backups',
    (on) => listBackups(on, {}, NEWEST),
    /^SEARCH data_backups USING INTEGER PRIMARY KEY \(rowid<\?\)$/,
  ],
  [
    'live sessions',
    (on) => listSessions(on, {}, NEWEST),
    /^SEARCH vpn_sessions USING INDEX vpn_sessions_open \(seq<\?\)$/,
  ],
  [
    'closed sessions of a user',
    (on) => listSessions(on, { state: 'closed', user: 'u' }, NEWEST),
    /^SEARCH vpn_sessions USING INDEX vpn_sessions_by_user \(user_id=\? AND seq<\?\)$/,
  ],
  [
    'refused connections',
    (on) => listAudit(on, { event: 'auth_failed' }, NEWEST),
    /^SEARCH vpn_audit USING INDEX vpn_audit_auth_failed \(event=\? AND seq<\?\)$/,
  ],
  [
    'the audit trail of a user',
    (on) => listAudit(on, { user: 'u' }, NEWEST),
    /^SEARCH vpn_audit USING INDEX vpn_audit_by_user \(user_id=\? AND seq<\?\)$/,
  ],
  ...(
    [
      ['actor', 'actor_id=\\?', { actorId: 'u' }],
      ['name', 'actor_name=\\?', { actorName: 'ada' }],
      ['operation', 'operation=\\?', { operation: 'updateUser' }],
      ['target', 'target_kind=\\? AND target_id=\\?', { targetKind: 'user', targetId: 'u' }],
    ] as const
  ).map(
    ([index, condition, filter]) =>
      [
        `the audit trail by ${index}`,
        (on: Queries) => listEntries(on, filter, NEWEST),
        new RegExp(
          `^SEARCH audit_entries USING INDEX audit_entries_by_${index} \\(${condition} AND seq<\\?\\)$`,
        ),
      ] as const,
  ),
  [
    'firing alerts',
    (on) => listAlerts(on, { status: 'firing' }, NEWEST),
    /^SEARCH alerts USING INDEX alerts_by_status \(status=\? AND seq<\?\)$/,
  ],
  [
    'alerts by severity',
    (on) => listAlerts(on, {}, MOST_SEVERE),
    /^SEARCH alerts USING INDEX alerts_by_weight \(weight<\?\)$/,
  ],
  [
    'acknowledged alerts by severity',
    (on) => listAlerts(on, { status: 'acknowledged' }, MOST_SEVERE),
    /^SEARCH alerts USING INDEX alerts_by_status_weight \(status=\? AND weight<\?\)$/,
  ],
  [
    'alerts of a source by severity',
    (on) => listAlerts(on, { source: 's' }, MOST_SEVERE),
    /^SEARCH alerts USING INDEX alerts_by_source_weight \(source=\? AND weight<\?\)$/,
  ],
  [
    'alerts of a level',
    (on) => listAlerts(on, { level: 1 }, NEWEST),
    /^SEARCH alerts USING INDEX alerts_by_level \(level=\? AND seq<\?\)$/,
  ],
  [
    'alerts of a source',
    (on) => listAlerts(on, { source: 's' }, NEWEST),
    /^SEARCH alerts USING INDEX alerts_by_source \(source=\? AND seq<\?\)$/,
  ],
  [
    'critical alerts',
    (on) => listAlerts(on, { severity: 'CRITICAL' }, NEWEST),
    /^SEARCH alerts USING INDEX alerts_by_weight \(weight=\? AND seq<\?\)$/,
  ],
  [
    'silences',
    (on) => listSilences(on, {}, NEWEST),
    /^SEARCH alert_silences USING INTEGER PRIMARY KEY \(rowid<\?\)$/,
  ],
  [
    'the decisions on an alert',
    (on) => listDecisions(on, { alertId: 'a' }, NEWEST),
    /^SEARCH alert_notifications USING INDEX alert_notifications_of_alert \(alert_id=\? AND seq<\?\)$/,
  ],
  [
    'unclosed tickets',
    (on) => listTickets(on, { status: 'unclosed' }, NEWEST),
    /^SEARCH tickets USING INDEX tickets_unclosed_by_seq \(seq<\?\)$/,
  ],
  [
    'unclosed tickets of a level',
    (on) => listTickets(on, { status: 'unclosed', level: 'high' }, NEWEST),
    /^SEARCH tickets USING INDEX tickets_unclosed \(level=\? AND rowid<\?\)$/,
  ],
  ...(['status', 'level', 'source', 'assignee'] as const).map(
    (column) =>
      [
        `tickets of one ${column}`,
        (on: Queries) => listTickets(on, { [column]: 'x' }, NEWEST),
        new RegExp(`^SEARCH tickets USING INDEX tickets_by_${column} \\(${column}=\\? AND seq<\\?\\)$`),
      ] as const,
  ),
  [
    'tickets that mention a user',
    (on) => listTickets(on, { mentioned: 'x' }, NEWEST),
    /^SEARCH tickets USING INTEGER PRIMARY KEY \(rowid=\?\); LIST SUBQUERY 1; SEARCH ticket_mentions USING COVERING INDEX /,
  ],
  [
    'executions that a caller may read',
    (on) => listExecutions(on, { readable: '\n=ada\n' }, NEWEST),
    /^SEARCH command_executions USING INTEGER PRIMARY KEY \(rowid<\?\); SEARCH command_outputs USING INDEX /,
  ],
  ...(['status', 'commandId', 'requestedBy'] as const).map((filter) => {
    const column = filter.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)
    return [
      `executions of one ${filter}`,
      (on: Queries) => listExecutions(on, { [filter]: 'x' }, NEWEST),
      new RegExp(
        `^SEARCH command_executions USING INDEX command_executions_by_${column} \\(${column}=\\? AND seq<\\?\\); SEARCH command_outputs USING INDEX `,
      ),
    ] as const
  }),
  [
    'the policies of commands',
    (on) => listPolicies(on, {}, NEWEST),
    /^SEARCH command_policies USING INTEGER PRIMARY KEY \(rowid<\?\)$/,
  ],
  [
    'the comments of a ticket',
    (on) => listComments(on, { ticketId: 't' }, NEWEST),
    /^SEARCH ticket_changes USING INDEX ticket_changes_with_comment \(ticket_id=\? AND seq<\?\)$/,
  ],
  [
    'the changes of a ticket',
    (on) => listTicketChanges(on, { ticketId: 't' }, OLDEST),
    /^SEARCH ticket_changes USING INDEX ticket_changes_of_ticket \(ticket_id=\? AND seq>\?\)$/,
  ],
]

for (const [what, read, plan] of LISTS) {
  test(`a page of ${what} is read by an index, without sorting`, async () => {
    await using world = await testStore('sqlite')
    // Plans for the sizes of the rows, and for the rows: without the output of executions, both have the same plan.
    const plans = await plansOf(world.store, read)
    assert.match(plans.at(-1) ?? '', plan)
    const searches = plans.map((each) => each.split('; ')[0])
    assert.equal(new Set(searches).size, 1, searches.join('\n'))
  })
}

test('a page of the history of an alert is read by an index, without sorting', async () => {
  await using world = await alertWorld('sqlite')
  const { alert } = await world.alerts.report(FAILED, 'anna')
  const plans = await plansOf(world.store, (on) => listHistory(on, alert.id, OLDEST))
  assert.match(
    plans.at(-1) ?? '',
    /^SEARCH alert_history USING INDEX alert_history_of_alert \(alert_id=\? AND seq>\?\)$/,
  )
})

test('changed users are read by the primary key, and their later changes by an index, without sorting', async () => {
  await using world = await testStore('sqlite')
  const plans = await plansOf(world.store, (on) => readChanges(on, 9, 100))
  const plan = plans.find((each) => each.includes('SEARCH change')) ?? ''
  assert.match(plan, /^SEARCH change USING INTEGER PRIMARY KEY \(rowid>\?\)/)
  assert.match(plan, /SEARCH later USING COVERING INDEX user_changes_by_user \(user_id=\? AND revision>\?\)/)
  assert.doesNotMatch(plan, /SCAN|TEMP B-TREE/)
})
