import { randomUUID } from 'node:crypto'
import { freshCertificate } from '../../support/certificate-sample.ts'
import { cursorOf } from './cursors.ts'
import type { Place } from './document.ts'
import type { Sent } from './traffic.ts'

/** The parts of a request that its operation accepts. */
export interface Sample {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>> | readonly unknown[]
}

export const PASSWORD = 'a heavy brass telescope'

const unknownId = () => ({ id: randomUUID() })
const fresh = (word: string) => `${word}-${randomUUID()}`
/** A silence has to end in the future, and may not last long. */
export const hoursFromNow = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
const ALERTMANAGER_QUERY = {
  active: 'true',
  silenced: 'true',
  inhibited: 'true',
  unprocessed: 'true',
  muted: 'true',
  filter: 'alertname="DiskFull"',
  receiver: 'robot',
}
const timedPage = {
  limit: '10',
  created_from: '2026-01-31T02:00:00Z',
  created_to: '2099-01-31T03:00:00+01:00',
}

/** A valid request of every operation, with names that do not exist yet. */
const SAMPLES: Readonly<Record<string, () => Sample>> = {
  createOrder: () => ({
    body: {
      order_id: fresh('order'),
      platform: 'live',
      amount_cents: 4_990,
      expires_at: '2026-01-31T03:00:00+01:00',
    },
  }),
  listOrders: () => ({
    query: {
      ...timedPage,
      status: 'pending',
      platform: 'live',
      archived: 'true',
      sort: 'expires_at',
    },
  }),
  getOrder: () => ({ params: { order_id: fresh('order') } }),
  getOrderHistory: () => ({ params: { order_id: fresh('order') } }),
  moveOrder: () => ({ params: { order_id: fresh('order') }, body: { status: 'paid' } }),
  createPayment: () => ({
    params: { order_id: fresh('order') },
    body: { channel: 'wechat', return_url: 'https://shop.example.org/thanks' },
  }),
  listPaymentsOfOrder: () => ({ params: { order_id: fresh('order') }, query: timedPage }),
  listPayments: () => ({
    query: { ...timedPage, status: 'paid', channel: 'wechat', order_id: 'order-1', attention: 'late' },
  }),
  getPayment: () => ({ params: unknownId() }),
  getPaymentHistory: () => ({ params: unknownId() }),
  closePayment: () => ({ params: unknownId() }),
  createRefund: () => ({ params: unknownId(), body: { amount_cents: 100, reason: 'Broken.' } }),
  listRefunds: () => ({ params: unknownId(), query: timedPage }),
  resolvePayment: () => ({ params: unknownId(), body: { note: 'Refunded at the provider.' } }),
  receivePaymentCallback: () => ({ params: { channel: 'wechat' } }),
  showPaymentDone: () => ({}),
  reconcilePayments: () => ({ body: { channel: 'wechat', date: '2026-01-31' } }),
  listReconciliations: () => ({ query: timedPage }),
  getReconciliation: () => ({ params: unknownId() }),
  listPaymentDifferences: () => ({
    params: unknownId(),
    query: { kind: 'missing_here', limit: '10', cursor: cursorOf('listPaymentDifferences') },
  }),
  beginSignIn: () => ({ query: { return_to: '/console/' } }),
  finishSignIn: () => ({ query: { code: 'code-1', state: 'state-1' } }),
  endProviderSession: () => ({}),
  redeemTicket: () => ({ body: { ticket: 'ticket-1' } }),
  streamEvents: () => ({ query: { subjects: 'alert.*' } }),
  listMessages: () => ({ query: { ...timedPage, status: 'pending', subject: 'shop.opened' } }),
  getMessage: () => ({ params: unknownId() }),
  publishMessage: () => ({
    body: { subject: 'shop.opened', payload: { shop: 7 }, headers: { 'x-shop': 'seven' } },
  }),
  redriveMessage: () => ({ params: unknownId() }),
  reportAlert: () => ({
    body: {
      source: 'platform.backup',
      title: fresh('Backup failed'),
      body: 'The disk is full.',
      level: 'HIGH',
      server_addr: '192.0.2.10',
      weight: 5,
      alarm_id: fresh('backup'),
    },
  }),
  listAlerts: () => ({
    query: {
      ...timedPage,
      status: 'firing',
      level: 'HIGH',
      source: 'platform.backup',
      text: 'backup',
      sort: 'severity',
    },
  }),
  getAlert: () => ({ params: unknownId() }),
  recoverAlert: () => ({ params: unknownId() }),
  postPrometheusAlerts: () => ({ body: [{ labels: { alertname: fresh('disk') } }] }),
  postAlertmanagerNotification: () => ({ body: { alerts: [{ labels: { alertname: fresh('disk') } }] } }),
  getAlertRoute: () => ({ params: unknownId() }),
  getAlertRoutes: () => ({}),
  explainAlertRoute: () => ({
    query: {
      source: 'platform.backup',
      severity: 'ERROR',
      title: 'Backup failed',
      alarm_id: 'backup.failed',
      server_addr: '192.0.2.10',
    },
  }),
  listReceivers: () => ({ query: { limit: '10', cursor: cursorOf('listReceivers') } }),
  testReceiver: () => ({ params: { name: 'nobody' } }),
  getAlertmanagerStatus: () => ({}),
  listAlertmanagerReceivers: () => ({}),
  listAlertmanagerAlerts: () => ({ query: ALERTMANAGER_QUERY }),
  listAlertmanagerGroups: () => ({ query: ALERTMANAGER_QUERY }),
  listAlertmanagerSilences: () => ({ query: { filter: 'alertname="DiskFull"' } }),
  getAlertmanagerSilence: () => ({ params: unknownId() }),
  deleteAlertmanagerSilence: () => ({ params: unknownId() }),
  postAlertmanagerSilence: () => ({
    body: {
      matchers: [{ name: 'alertname', value: fresh('disk'), isRegex: false, isEqual: true }],
      startsAt: hoursFromNow(1),
      endsAt: hoursFromNow(2),
      createdBy: 'ada',
      comment: 'Planned maintenance',
    },
  }),
  putHeartbeat: () => ({
    params: { name: fresh('backup') },
    body: { every_seconds: 86_400, grace_seconds: 600, severity: 'HIGH', source: 'platform.backup' },
  }),
  listHeartbeats: () => ({ query: timedPage }),
  getHeartbeat: () => ({ params: { name: fresh('backup') } }),
  listHeartbeatPings: () => ({ params: { name: fresh('backup') }, query: timedPage }),
  rotateHeartbeat: () => ({ params: { name: fresh('backup') } }),
  ping: () => ({ params: { token: fresh('token') } }),
  pingWithBody: () => ({ params: { token: fresh('token') } }),
  pingSignal: () => ({ params: { token: fresh('token'), signal: 'start' } }),
  pingSignalWithBody: () => ({ params: { token: fresh('token'), signal: '0' } }),
  deleteHeartbeat: () => ({ params: { name: fresh('backup') } }),
  beatHeartbeat: () => ({ params: { name: fresh('backup') } }),
  createWebhook: () => ({
    body: {
      url: 'https://shop.example.org/hooks',
      subjects: ['order.*'],
      description: 'the warehouse',
      ordered: true,
      enabled: true,
    },
  }),
  listWebhooks: () => ({ query: timedPage }),
  getWebhook: () => ({ params: unknownId() }),
  editWebhook: () => ({
    params: unknownId(),
    body: {
      url: 'https://shop.example.org/hooks',
      subjects: ['order.paid'],
      description: 'the warehouse',
      ordered: false,
      enabled: false,
    },
  }),
  deleteWebhook: () => ({ params: unknownId() }),
  rotateWebhook: () => ({ params: unknownId() }),
  testWebhook: () => ({ params: unknownId() }),
  listWebhookDeliveries: () => ({ params: unknownId(), query: { ...timedPage, status: 'failed' } }),
  redeliverWebhook: () => ({ params: { ...unknownId(), delivery_id: randomUUID() } }),
  recoverWebhook: () => ({ params: unknownId(), body: { since: '2026-01-31T03:00:00+01:00' } }),
  createTicket: () => ({
    body: {
      title: 'The shop does not answer',
      level: 'critical',
      description: 'Since noon.',
      source: 'platform.backup',
      dedup_key: fresh('ticket'),
    },
  }),
  listTickets: () => ({
    query: {
      ...timedPage,
      status: 'open',
      level: 'high',
      source: 'platform.backup',
      assignee: randomUUID(),
      mentioned: randomUUID(),
      text: 'shop',
    },
  }),
  getTicket: () => ({ params: unknownId() }),
  listTicketComments: () => ({ params: unknownId(), query: timedPage }),
  getTicketHistory: () => ({
    params: unknownId(),
    query: { ...timedPage, cursor: cursorOf('getTicketHistory') },
  }),
  editTicket: () => ({
    params: unknownId(),
    body: {
      status: 'in_progress',
      level: 'low',
      title: 'The shop is slow',
      comment: 'Found it.',
      assignee: randomUUID(),
    },
  }),
  getMenus: () => ({ query: { all: 'false', flat: 'true' } }),
  editMenus: () => ({
    body: {
      items: [{ id: fresh('menu'), title: 'Sale', children: [{ id: fresh('menu'), title: 'Shoes' }] }],
      replace: false,
      dry_run: false,
    },
  }),
  deleteMenu: () => ({ params: { id: fresh('menu') } }),
  acknowledgeAlert: () => ({ params: unknownId(), body: { comment: 'Anna is on it.' } }),
  unfreezeAlert: () => ({ params: unknownId() }),
  getAlertHistory: () => ({
    params: unknownId(),
    query: { ...timedPage, cursor: cursorOf('getAlertHistory') },
  }),
  listAlertDecisions: () => ({ params: unknownId(), query: timedPage }),
  createSilence: () => ({
    body: {
      matchers: {
        source: fresh('source'),
        alarm_id: 'backup.*',
        server_addr: '192.0.2.10',
        title: 'Backup*',
      },
      reason: 'Planned maintenance',
      starts_at: hoursFromNow(1),
      ends_at: hoursFromNow(48),
      repeat: {
        days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
        from: '00:00',
        to: '24:00',
        time_zone: 'UTC',
      },
    },
  }),
  listSilences: () => ({ query: { ...timedPage, state: 'active' } }),
  getSilenceCalendar: () => ({ query: { from: '2026-01-26T00:00:00Z' } }),
  getSilence: () => ({ params: unknownId() }),
  endSilence: () => ({ params: unknownId() }),
  login: () => ({ body: { username: fresh('nobody'), password: PASSWORD } }),
  getMe: () => ({}),
  logout: () => ({}),
  listUsers: () => ({ query: timedPage }),
  createUser: () => ({ body: { name: fresh('user'), password: PASSWORD, roles: ['devops'] } }),
  mirrorUsers: () => ({ query: { since: '7', limit: '10' } }),
  listUserNames: () => ({ query: { ids: unknownId().id } }),
  getUser: () => ({ params: unknownId() }),
  updateUser: () => ({ params: unknownId(), body: { roles: ['devops'], enabled: true } }),
  deleteUser: () => ({ params: unknownId() }),
  createApiToken: () => ({
    params: unknownId(),
    body: { name: 'cash desk', expires_in: 3_600, roles: ['devops'] },
  }),
  listApiTokens: () => ({ params: unknownId(), query: timedPage }),
  revokeApiToken: () => ({ params: { ...unknownId(), token_id: unknownId().id } }),
  setPassword: () => ({ params: unknownId(), body: { password: PASSWORD, old_password: PASSWORD } }),
  listVpnSessions: () => ({ query: { ...timedPage, state: 'closed', user: 'ada', gateway: 'primary' } }),
  listVpnTunnels: () => ({}),
  disconnectVpnSession: () => ({ params: unknownId() }),
  getVpnPool: () => ({}),
  listAudit: () => ({
    query: {
      limit: '10',
      actor: 'ada',
      operation: 'updateUser',
      target: 'user:ada',
      from: '2026-01-31T02:00:00Z',
      to: '2099-01-31T03:00:00+01:00',
    },
  }),
  getAuditSeal: () => ({}),
  exportAudit: () => ({
    query: {
      actor: 'ada',
      operation: 'updateUser',
      target: 'user:ada',
      from: '2026-01-31T02:00:00Z',
      to: '2099-01-31T03:00:00+01:00',
    },
  }),
  listVpnAudit: () => ({ query: { ...timedPage, event: 'auth_failed', user: 'ada' } }),
  sendTelemetry: () => ({
    body: {
      agent_id: fresh('agent'),
      at: '2026-01-31T03:00:00+01:00',
      data: { temperature: 21.5 },
    },
  }),
  listTelemetryAgents: () => ({ query: timedPage }),
  getTelemetryAgent: () => ({ params: { agent_id: fresh('agent') } }),
  registerCertificate: () => ({ body: { name: fresh('shop'), pem: freshCertificate() } }),
  listCertificates: () => ({
    query: {
      ...timedPage,
      status: 'expiring',
      expires_before: '2099-01-31T03:00:00+01:00',
      sort: 'created_at',
    },
  }),
  getCertificate: () => ({ params: unknownId() }),
  getCertificatePem: () => ({ params: unknownId() }),
  revokeCertificate: () => ({ params: unknownId(), body: { reason: 'The key was lost.' } }),
  deleteCertificate: () => ({ params: unknownId() }),
  createDataBackup: () => ({ body: { note: 'before the upgrade' } }),
  listDataBackups: () => ({ query: timedPage }),
  getDataBackup: () => ({ params: unknownId() }),
  getDataBackupFile: () => ({ params: unknownId() }),
  deleteDataBackup: () => ({ params: unknownId() }),
  pruneDataBackups: () => ({ body: { keep: 7 } }),
  listCommands: () => ({ query: { all: 'false', limit: '10', cursor: cursorOf('listCommands') } }),
  explainCommandAccess: () => ({ params: { id: 'orders.expire-due' }, query: { user_id: randomUUID() } }),
  executeCommand: () => ({
    params: { id: fresh('command') },
    body: { params: { unit: 'nginx' }, reason: 'The shop is slow.', dry_run: true },
  }),
  listExecutions: () => ({
    query: { ...timedPage, status: 'queued', command_id: 'orders.expire-due', requested_by: 'ada' },
  }),
  getExecution: () => ({ params: unknownId() }),
  followExecutionOutput: () => ({ params: unknownId() }),
  cancelExecution: () => ({ params: unknownId() }),
  approveExecution: () => ({ params: unknownId(), body: { comment: 'Go ahead.' } }),
  rejectExecution: () => ({ params: unknownId(), body: { comment: 'Not today.' } }),
  getCommandPolicy: () => ({}),
  setCommandPolicy: () => ({
    body: {
      rules: {
        'orders.expire-due': { roles: ['admin', 'devops'], approvers: ['admin'], approval: 'none' },
      },
    },
  }),
  getCommandPolicyHistory: () => ({ query: timedPage }),
  getOverview: () => ({}),
  getOverviewSeries: () => ({ query: { hours: '24' } }),
  getConfig: () => ({}),
  getDoctorReport: () => ({}),
  getHealth: () => ({}),
  getLive: () => ({}),
  getReady: () => ({}),
  getMetrics: () => ({}),
}

/** Fails for an operation without a sample, which the tests would leave out. */
export function sampleOf({ operation }: Place): Sample {
  const sample = SAMPLES[operation.operationId]
  if (!sample) throw new Error(`${operation.operationId} has no sample request: add one to samples.ts`)
  return sample()
}

/** The fields of a body; a list has none. */
export function fieldsOf({ body = {} }: Sample): Readonly<Record<string, unknown>> {
  return Array.isArray(body) ? {} : (body as Readonly<Record<string, unknown>>)
}

/** The sample as a request. */
export function toRequest({ method, path }: Place, { params = {}, query = {}, body }: Sample): Sent {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(query).toString()
  return { method, path: search ? `${filled}?${search}` : filled, ...(body && { body }) }
}
