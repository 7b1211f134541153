import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { servePlatform, temporaryDirectory } from '../../support/platform.ts'
import { placesOf, type OpenApiDocument } from './document.ts'

// docs/specification.md, HTTP API
const LARGEST_ANSWER = 8 * 1_048_576
const LONGEST_LIST = 1_000
/** More than an answer may have, so that a list of large rows does not fit into one. */
const LIST_BYTES = 2 * LARGEST_ANSWER

type Value = string | number

/** A list, and its largest rows: the value of each column that is not empty, or a function of the number of the row. */
interface List {
  readonly path: string
  readonly table: string
  readonly row: Readonly<Record<string, Value | ((n: number) => Value)>>
  /** Statements that add rows of other tables. */
  readonly others?: readonly string[]
}

const ID = (n: number) => String(n).padStart(8, '0')
const longId = (n: number) => ID(n) + 'x'.repeat(56)
const plain = (length: number) => 'x'.repeat(length)
/** Each character has one byte, and six bytes in JSON. */
const control = (length: number) => '\u0001'.repeat(length)
/** Each character has three bytes. */
const wide = (length: number) => '一'.repeat(length)
const ALERT = `insert or ignore into alerts (id, identity, source, title, body, level, weight, status, count, first_at,
  last_at, created_by, first_weight, reports, was_critical, was_high, swings)
  values ('one', 'one', 's', 't', '', 1, 6, 'firing', 1, 1, 1, 'a', 6, 1, 0, 0, '[]')`
const TICKET = `insert or ignore into tickets (id, title, level, status, comment_count, created_by, created_at,
  updated_at, version) values ('one', 't', 'low', 'open', 0, 'a', 1, 1, 1)`

const HEARTBEAT = `insert or ignore into heartbeats (name, every_seconds, grace_seconds, severity, source, created_by,
  created_at, updated_by, updated_at, counted_from, due_at) values ('one', 60, 0, 'HIGH', 's', 'a', 1, 'a', 1, 1, 1)`

const WEBHOOK = `insert or ignore into webhooks (id, url, subjects, description, ordered, enabled, version, created_at,
  created_by, updated_at, updated_by, pending, secret, place, attempts, queued_at)
  values ('one', 'https://one.example/', '["a"]', '', 1, 0, 1, 1, 'a', 1, 'a', 0, 's', 0, 0, 1)`

const ORDER = `insert or ignore into orders (order_id, platform, status, amount_cents, created_at, created_by, updated_at,
  expires_at, version) values ('one', 'p', 'pending', 1, 1, 'a', 1, 1, 1)`
const PAYMENT = `insert or ignore into payments (id, channel, status, amount_cents, currency, number, refunded_cents,
  reserved_cents, created_at, created_by, parameters, is_closing, attempts, queued_at)
  values ('one', 'c', 'paid', 1, 'CNY', 'one', 0, 0, 1, 'a', '', 0, 0, 1)`
const PAYMENT_ROW = {
  id: ID,
  order_id: 'one',
  channel: longId,
  status: 'closed',
  number: ID,
  currency: 'CNY',
  failed_reason: control(200),
  created_by: wide(128),
}

/** By the id of the operation. */
const LISTS: Readonly<Record<string, List>> = {
  listOrders: {
    path: '/orders',
    table: 'orders',
    row: { order_id: longId, platform: wide(64), status: 'pending', amount_cents: (n) => n },
  },
  listMessages: {
    path: '/messages',
    table: 'messages',
    row: {
      id: ID,
      subject: plain(255),
      payload: JSON.stringify(plain(1_048_574)),
      headers: JSON.stringify({ a: plain(30_000) }),
      status: 'dead',
    },
  },
  listAlerts: {
    path: '/alerts',
    table: 'alerts',
    row: {
      id: ID,
      identity: ID,
      source: plain(128),
      title: control(200),
      body: control(16_384),
      status: 'firing',
      level: 1,
      weight: 6,
      swings: '[]',
    },
  },
  getAlertHistory: {
    path: '/alerts/one/history',
    table: 'alert_history',
    row: {
      alert_id: 'one',
      at: (n) => 1_000 + n,
      from_status: 'firing',
      to_status: 'firing',
      note: control(4_096),
    },
    others: [ALERT],
  },
  listAlertDecisions: {
    path: '/alerts/one/decisions',
    table: 'alert_notifications',
    row: {
      id: ID,
      alert_id: 'one',
      occasion: 'raised',
      channel: 'robot',
      outcome: 'failed',
      reason: control(500),
    },
    others: [ALERT],
  },
  listSilences: {
    path: '/alerts/silences',
    table: 'alert_silences',
    row: {
      id: ID,
      matchers: JSON.stringify({ title: plain(1_024), source: plain(128) }),
      reason: control(1_024),
      ends_at: 9_999_999_999_999,
    },
  },
  listHeartbeats: {
    path: '/alerts/heartbeats',
    table: 'heartbeats',
    row: {
      name: longId,
      severity: 'HIGH',
      source: wide(128),
      every_seconds: 60,
      due_at: 9_999_999_999_999,
    },
  },
  listWebhooks: {
    path: '/webhooks',
    table: 'webhooks',
    row: {
      id: ID,
      url: `https://one.example/${plain(2_028)}`,
      subjects: JSON.stringify(Array<string>(50).fill(plain(255))),
      description: control(500),
      created_by: wide(128),
      updated_by: wide(128),
      secret: 's',
    },
  },
  listWebhookDeliveries: {
    path: '/webhooks/one/deliveries',
    table: 'webhook_deliveries',
    row: {
      id: ID,
      webhook_id: 'one',
      status: 'delivered',
      event_id: ID,
      type: plain(255),
      response_body: control(1_024),
      response_headers: JSON.stringify(Array<string>(64).fill(plain(200))),
    },
    others: [WEBHOOK],
  },
  listHeartbeatPings: {
    path: '/alerts/heartbeats/one/pings',
    table: 'heartbeat_pings',
    row: { heartbeat: 'one', at: (n) => 1_000 + n, kind: 'log', body: control(10_000) },
    others: [HEARTBEAT],
  },
  listPayments: { path: '/payments', table: 'payments', row: PAYMENT_ROW },
  listPaymentsOfOrder: {
    path: '/orders/one/payments',
    table: 'payments',
    row: PAYMENT_ROW,
    others: [ORDER],
  },
  listRefunds: {
    path: '/payments/one/refunds',
    table: 'payment_refunds',
    row: { id: ID, payment_id: 'one', channel: 'c', number: ID, status: 'failed', reason: control(200) },
    others: [PAYMENT],
  },
  listReconciliations: {
    path: '/payments/reconciliations',
    table: 'payment_reconciliations',
    row: { id: ID, channel: longId, date: '2026-01-31', status: 'failed', error: control(1_000) },
  },
  listPaymentDifferences: {
    path: '/payments/reconciliations/one/differences',
    table: 'payment_differences',
    row: { reconciliation_id: 'one', kind: 'missing_here', type: 'payment', number: ID },
    others: [
      `insert or ignore into payment_reconciliations (id, channel, date, status, matched, differences, created_at,
       requested_by, is_alerted, attempts, queued_at)
       values ('one', 'c', '2026-01-31', 'matched', 0, 0, 1, 'a', 0, 0, 1)`,
    ],
  },
  listTickets: {
    path: '/tickets',
    table: 'tickets',
    row: {
      id: ID,
      title: control(200),
      level: 'low',
      status: 'open',
      source: control(128),
    },
  },
  listTicketComments: {
    path: '/tickets/one/comments',
    table: 'ticket_changes',
    row: { id: ID, ticket_id: 'one', changes: '{}', comment: control(4_096) },
    others: [TICKET],
  },
  getTicketHistory: {
    path: '/tickets/one/history',
    table: 'ticket_changes',
    row: { id: ID, ticket_id: 'one', at: (n) => 1_000 + n, changes: '{}', comment: control(4_096) },
    others: [TICKET],
  },
  listUsers: {
    path: '/users',
    table: 'users',
    row: { id: ID, name: longId, name_key: ID, roles: 'auditor', enabled: 1 },
  },
  listApiTokens: {
    path: '/users/one/tokens',
    table: 'api_tokens',
    row: {
      id: ID,
      user_id: 'one',
      name: control(100),
      hash: ID,
      roles: 'admin,devops,auditor',
      expires_at: 9_999_999_999_999,
      last_used_from: plain(45),
    },
    others: [
      `insert or ignore into users (id, name, name_key, password_hash, roles, enabled, token_generation, tokens_valid_from,
        created_at, updated_at) values ('one', 'one', 'one', '', 'auditor', 1, 0, 1, 1, 1)`,
    ],
  },
  listCertificates: {
    path: '/certificates',
    table: 'certificates',
    row: {
      id: ID,
      name: control(100),
      fingerprint_sha256: ID,
      names: JSON.stringify([plain(250_000)]),
      chain: '[]',
      warnings: '[]',
      not_after: 9_999_999_999_999,
    },
  },
  listDataBackups: {
    path: '/data/backups',
    table: 'data_backups',
    row: {
      id: ID,
      status: 'failed',
      error: control(4_096),
      note: control(1_000),
      tables: JSON.stringify({ [plain(2_000)]: 1 }),
    },
  },
  listExecutions: {
    path: '/commands/executions',
    table: 'command_executions',
    row: {
      id: ID,
      command_id: 'data.backup',
      params: JSON.stringify({ a: plain(60_000) }),
      reason: control(1_024),
      status: 'succeeded',
      approvals: '[]',
    },
    others: [
      `insert or ignore into command_outputs (execution_id, text, total)
       select id, '${control(65_536)}', 65536 from command_executions`,
    ],
  },
  getCommandPolicyHistory: {
    path: '/commands/policy/history',
    table: 'command_policies',
    row: {
      revision: (n) => n + 1,
      actor: 'a',
      rules: JSON.stringify({ [plain(500_000)]: { roles: ['admin'] } }),
    },
  },
  listTelemetryAgents: {
    path: '/api/v1/telemetry/agents',
    table: 'telemetry_agents',
    row: { agent_id: longId },
  },
  listVpnSessions: {
    path: '/vpn/sessions',
    table: 'vpn_sessions',
    row: {
      id: ID,
      user_id: ID,
      user_name: plain(64),
      device: wide(253),
      gateway: plain(253),
      address: (n) => n,
    },
  },
  listAudit: {
    path: '/audit',
    table: 'audit_entries',
    row: {
      id: ID,
      actor_name: wide(254),
      actor_kind: 'user',
      operation: plain(64),
      target_kind: 'user',
      target_id: plain(256),
      changes: JSON.stringify({ description: [null, wide(8_000)] }),
      outcome: 'done',
    },
  },
  listVpnAudit: {
    path: '/vpn/audit',
    table: 'vpn_audit',
    row: {
      id: ID,
      event: 'session_closed',
      user_name: plain(64),
      device: wide(253),
      gateway: plain(253),
      reason: wide(512),
    },
  },
}

const OPEN_ALERTS = {
  table: 'alerts',
  rows: LONGEST_LIST,
  row: {
    id: ID,
    identity: ID,
    source: (n: number) => ID(n) + control(120),
    title: control(256),
    body: control(16_384),
    labels: JSON.stringify({ alertname: plain(4_000) }),
    status: 'firing',
    level: 1,
    weight: 6,
    swings: '[]',
  },
}

/** Lists that an answer has as a whole, each with as many rows as it may have. By the id of the operation. */
const WHOLE_LISTS: Readonly<Record<string, List & { readonly rows: number }>> = {
  listAlertmanagerAlerts: { path: '/api/v2/alerts', ...OPEN_ALERTS },
  listAlertmanagerGroups: { path: '/api/v2/alerts/groups', ...OPEN_ALERTS },
  listAlertmanagerSilences: {
    path: '/api/v2/silences',
    table: 'alert_silences',
    rows: LONGEST_LIST,
    row: {
      id: ID,
      matchers: '{}',
      label_matchers: JSON.stringify(
        Array(32).fill({ name: plain(128), value: plain(1_024), isRegex: false, isEqual: true }),
      ),
      reason: control(1_024),
      ends_at: 9_999_999_999_999,
    },
  },
  getPaymentHistory: {
    path: '/payments/one/history',
    table: 'payment_history',
    row: { payment_id: 'one', at: (n) => 1_000 + n, change: 'resolved', actor: 'a', note: control(1_000) },
    others: [PAYMENT],
    rows: LONGEST_LIST,
  },
  getMenus: {
    path: '/menus?all=true',
    table: 'menus',
    rows: 10_000,
    // 6 MiB in JSON (docs/specification.md, Menus).
    row: {
      id: longId,
      title: control(40),
      path: `/${plain(255)}`,
      icon: plain(51),
      position: 1_000_000,
      created_at: 1_700_000_000_000,
      updated_at: 1_700_000_000_000,
    },
  },
  listVpnTunnels: {
    path: '/vpn/tunnels',
    table: 'vpn_sessions',
    rows: 2_100,
    row: {
      id: ID,
      user_id: ID,
      user_name: plain(254),
      device: wide(253),
      gateway: plain(253),
      address: (n) => n,
    },
  },
  mirrorUsers: {
    path: `/users/mirror?limit=${LONGEST_LIST}`,
    table: 'users',
    rows: LONGEST_LIST + 1,
    row: {
      id: ID,
      name: (n) => ID(n) + plain(246),
      name_key: ID,
      roles: 'admin,devops,auditor',
      enabled: 1,
    },
    others: [
      'insert or ignore into user_changes (revision, user_id, name) select 9e15 + seq, id, name from users',
    ],
  },
}

/** The answers whose lists are short in any case, with the reason. */
const SHORT_LISTS: Readonly<Record<string, string>> = {
  getWebhook: 'at most 50 subjects of 255 characters, and 2 KiB of an address',
  getOrderHistory: 'an order has few changes of its status',
  getAlertRoute: 'the configured receivers',
  explainAlertRoute: 'the configured receivers',
  getAlertRoutes: 'the configured routes',
  getMe: 'the roles',
  listUserNames: 'as many as the request names',
  getUser: 'the roles',
  getTicket: '50 comments',
  getCertificate: '1,000 names, 20 certificates',
  explainCommandAccess: 'the roles',
  getExecution: 'the approvals of one execution',
  getCommandPolicy: 'the rules of one policy',
  getOverview: '10 items of a part',
  getOverviewSeries: 'the steps of 31 days',
  getConfig: 'the settings',
  getDoctorReport: 'the checks',
  getSilence: 'five windows',
  getSilenceCalendar: '50 silences with 8 windows and 120 characters of the reason',
  getAlertmanagerStatus: 'no peers',
  getAlertmanagerSilence: '32 matchers',
  getHealth: 'the modules',
}

/** Their items come from the configuration. */
const CONFIGURED = new Set(['listCommands', 'listReceivers', 'listAlertmanagerReceivers'])

const directory = temporaryDirectory()
const platform = await servePlatform({
  dataDir: directory.path,
  modules: 'api',
  env: { API_RATE_LIMIT: '0' },
})
const database = new DatabaseSync(join(directory.path, 'platform.db'), { enableForeignKeyConstraints: false })
database.exec('pragma busy_timeout = 5000; pragma synchronous = off')
after(async () => {
  database.close()
  await platform[Symbol.asyncDispose]()
  directory[Symbol.dispose]()
})

/** Fills a table with its largest rows, by default as many as are of use; returns how many there are. */
function fill({ table, row, others = [] }: List, rows?: number): number {
  const columns = database.prepare(`select name, type, "notnull" from pragma_table_info(?)`).all(table)
  const given = columns.filter(({ name, notnull }) => (notnull && name !== 'seq') || String(name) in row)
  const names = given.map(({ name }) => `"${String(name)}"`)
  const valuesOf = (n: number) =>
    given.map(({ name, type }) => {
      const value = row[String(name)] ?? (type === 'INTEGER' ? 0 : '')
      return typeof value === 'function' ? value(n) : value
    })
  const bytes = valuesOf(1).reduce<number>((sum, value) => sum + Buffer.byteLength(JSON.stringify(value)), 0)
  const count = rows ?? Math.min(LONGEST_LIST, Math.ceil(LIST_BYTES / bytes))
  const insertRow = database.prepare(
    `insert into ${table} (${names.join()}) values (${names.map(() => '?').join()})`,
  )
  database.exec(`begin immediate; delete from ${table}`)
  for (let n = 1; n <= count; n++) insertRow.run(...valuesOf(n))
  for (const statement of others) database.exec(statement)
  database.exec('commit')
  return count
}

interface Answer {
  readonly items: readonly unknown[]
  readonly next_cursor: string | null
}

/** All pages of a list; fails when one is too large, or empty although there are more. */
async function readList(path: string): Promise<string[]> {
  const items: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer = await platform.call('GET', `${path}?limit=${LONGEST_LIST}${query}`)
    const body = await answer.text()
    assert.equal(answer.status, 200, body.slice(0, 1_000))
    assert.ok(Buffer.byteLength(body) <= LARGEST_ANSWER, `${path}: ${Buffer.byteLength(body)} bytes`)
    const page = JSON.parse(body) as Answer
    assert.ok(page.items.length > 0, `${path} has an empty page`)
    items.push(...page.items.map((item) => JSON.stringify(item)))
    cursor = page.next_cursor
  }
  return items
}

test('every list of the api is tried with its largest rows', async () => {
  const document = (await (await platform.call('GET', '/openapi.json')).json()) as OpenApiDocument
  const lists = placesOf(document).filter(({ operation }) =>
    operation.parameters?.some(({ name }) => name === 'cursor'),
  )
  const untried = lists
    .map(({ operation }) => operation.operationId)
    .filter((id) => !(id in LISTS) && !CONFIGURED.has(id))
  assert.deepEqual(untried, [])
})

test('every other answer with a list is tried as a whole, or is short in any case', async () => {
  const document = (await (await platform.call('GET', '/openapi.json')).json()) as OpenApiDocument
  const untried = placesOf(document)
    .filter(({ method, operation }) => method === 'GET' && !(operation.operationId in LISTS))
    .filter(({ operation }) => hasList(document, operation.responses['200']))
    .map(({ operation }) => operation.operationId)
    .filter((id) => !(id in WHOLE_LISTS) && !(id in SHORT_LISTS) && !CONFIGURED.has(id))
  assert.deepEqual(untried, [])
})

/** Whether a schema, or one that it refers to, has a list. */
function hasList(document: OpenApiDocument, part: unknown): boolean {
  const text = JSON.stringify(part ?? null)
  const names = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name)
  return (
    text.includes('"type":"array"') ||
    names.some((name) => hasList(document, document.components.schemas[name]))
  )
}

for (const [operation, { rows, ...list }] of Object.entries(WHOLE_LISTS)) {
  test(`${operation}: the answer with all of the largest rows is not too large`, async () => {
    fill(list, rows)
    const answer = await platform.call('GET', list.path)
    const bytes = (await answer.arrayBuffer()).byteLength
    assert.equal(answer.status, 200)
    assert.ok(bytes > 100_000 && bytes <= LARGEST_ANSWER, `${bytes} bytes`)
    database.exec(`delete from ${list.table}`)
  })
}

for (const [operation, list] of Object.entries(LISTS)) {
  test(`${operation}: no answer is too large, and the pages have each row once`, async () => {
    const count = fill(list)
    const items = await readList(list.path)
    // The history of an alert begins with its first report, which is in another table.
    const expected = operation === 'getAlertHistory' ? count + 1 : count
    assert.deepEqual([items.length, new Set(items).size], [expected, expected])
    database.exec(`delete from ${list.table}`)
  })
}
