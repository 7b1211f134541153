import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import WebSocket from 'ws'
import { DOMAINS } from '../../../src/app/domains.ts'
import { ROLES, type Role } from '../../../src/kernel/identity.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryDirectory } from '../../support/platform.ts'
import { ADMIN, assertAccepted, openApi } from './client.ts'
import { EXPECTED_ACCESS } from './expected-access.ts'
import { sampleOf, toRequest } from './samples.ts'

const CHANNEL = 'card'
const directory = temporaryDirectory()
after(() => directory[Symbol.dispose]())
const api = await openApi({ PLATFORM_CONFIG: writeConfiguration(directory.path) })
after(() => api[Symbol.asyncDispose]())

/** A channel of payments whose provider does not answer: a payment that is being created has its event, too. */
function writeConfiguration(path: string): string {
  const secrets = join(path, 'pay.env')
  writeFileSync(secrets, 'STRIPE_SECRET_KEY=sk_test_1\nSTRIPE_WEBHOOK_SECRET=whsec_1\n', { mode: 0o600 })
  const file = join(path, 'platform.toml')
  const channel = `kind = "stripe"\nsecrets_file = "${secrets}"\napi_url = "http://127.0.0.1:1"`
  const payments = '[payments]\npublic_url = "http://127.0.0.1:1"'
  writeFileSync(file, `${payments}\n[payments.channels.${CHANNEL}]\n${channel}\n`)
  return file
}

/** The list of what an event is about, by the beginning of its subject; the first row that fits. */
const LISTS = [
  ['order.', '/orders'],
  ['payment.reconciled', '/payments/reconciliations'],
  ['payment.', '/payments'],
  ['alert.', '/alerts'],
  ['silence.', '/alerts/silences'],
  ['ticket.', '/tickets'],
  ['heartbeat.', '/alerts/heartbeats'],
  ['menu.', '/menus'],
  ['certificate.', '/certificates'],
  ['data.backup.', '/data/backups'],
  ['command.', '/commands/policy'],
  ['vpn.audit.', '/vpn/audit'],
  ['telemetry.agent.', '/api/v1/telemetry/agents'],
] as const

/** Whose samples write an event each. */
const CHANGES = [
  'createOrder',
  'reportAlert',
  'createSilence',
  'createTicket',
  'putHeartbeat',
  'editMenus',
  'registerCertificate',
  'createDataBackup',
]

function listOf(subject: string): string {
  const [, list] = LISTS.find(([begin]) => subject.startsWith(begin)) ?? []
  assert.ok(list, `${subject} needs a row: which list shows what it is about?`)
  return list
}

function readersOf(list: string): readonly Role[] {
  const expected = EXPECTED_ACCESS[`GET ${list}`]
  assert.ok(Array.isArray(expected), list)
  return expected as readonly Role[]
}

const send = (path: string, role: Role, headers: Record<string, string> = {}) =>
  api.send({ method: 'GET', path, headers: { 'x-user-id': 'caller', 'x-user-roles': role, ...headers } })

/** Whether the head of the stream is 200; its body is left. */
async function isStreamed(subject: string, role: Role): Promise<boolean> {
  const leave = new AbortController()
  const answer = await fetch(`${api.platform.url}/events?subjects=${subject}`, {
    headers: { 'x-user-id': 'caller', 'x-user-roles': role },
    signal: leave.signal,
  })
  leave.abort()
  return answer.status === 200
}

interface EventDeclaration {
  readonly events: Readonly<Record<string, string>>
  readonly eventReaders?: readonly Role[]
  readonly eventReadersOf?: Readonly<Record<string, readonly Role[]>>
}

test('no event has more readers than the list of what it is about', () => {
  const declarations: readonly EventDeclaration[] = DOMAINS
  for (const { events, eventReaders = [], eventReadersOf = {} } of declarations)
    for (const subject of Object.values(events)) {
      const readers = eventReadersOf[subject] ?? eventReaders
      const ofList = readersOf(listOf(subject))
      assert.deepEqual(
        readers.filter((role) => !ofList.includes(role)),
        [],
        subject,
      )
    }
})

test('webhooks, which send every event, are for those who may read all of them', () => {
  for (const [operation, access] of Object.entries(EXPECTED_ACCESS))
    if (operation.includes(' /webhooks')) assert.deepEqual(access, ['admin'], operation)
  for (const [, list] of LISTS) assert.ok(readersOf(list).includes('admin'), list)
})

function placeOf(operation: string) {
  const place = api.places.find(({ operation: { operationId } }) => operationId === operation)
  assert.ok(place, operation)
  return place
}

async function change(operation: string, body?: Readonly<Record<string, unknown>>): Promise<void> {
  const place = placeOf(operation)
  const answer = await api.send(toRequest(place, { ...sampleOf(place), ...(body && { body }) }))
  assertAccepted(answer, operation)
}

/** What changes with more than one call, or by itself. */
async function changeTheOthers(): Promise<void> {
  const order = { order_id: 'order-with-payment', platform: 'live', amount_cents: 4_990 }
  await change('createOrder', order)
  const post = (path: string, body: object) => api.send({ method: 'POST', path, headers: ADMIN, body })
  assertAccepted(await post(`/orders/${order.order_id}/payments`, { channel: CHANNEL }), 'a payment')
  assertAccepted(await post('/commands/orders.expire-due/execute', {}), 'a command')
  const stranger = new WebSocket(`${api.platform.gatewayUrl.replace('http', 'ws')}/vpn`, {
    headers: { authorization: 'Bearer nobody' },
  })
  await new Promise<void>((resolve) => stranger.once('error', () => resolve()))
}

/** The subjects whose events the test waits for, besides those of {@link CHANGES}. */
const OTHERS = ['payment.created', 'command.finished', 'vpn.audit.auth_failed']

test('no way shows what another one refuses: lists, tables, messages and the stream, for each role', async () => {
  for (const operation of CHANGES) await change(operation)
  await changeTheOthers()
  const messages = await eventually('an event of each', async () => {
    const { items } = (await send('/messages?limit=1000', 'admin')).json() as {
      items: { id: string; subject: string }[]
    }
    const subjects = new Set(items.map(({ subject }) => subject))
    const lists = new Set([...subjects].map(listOf))
    return lists.size >= CHANGES.length + OTHERS.length && OTHERS.every((each) => subjects.has(each))
      ? items
      : undefined
  })
  const bySubject = new Map(messages.map(({ id, subject }) => [subject, id]))
  for (const [subject, id] of bySubject)
    for (const role of ROLES) {
      const ways = {
        list: (await send(listOf(subject), role)).status === 200,
        table: (await send(listOf(subject), role, { accept: 'text/csv' })).status === 200,
        message: (await send(`/messages/${id}`, role)).status === 200,
        messages: (await send(`/messages?subject=${subject}`, role)).text.includes(`"${id}"`),
        stream: await isStreamed(subject, role),
      }
      const mayRead = readersOf(listOf(subject)).includes(role)
      const wanted = { list: mayRead, table: mayRead, message: mayRead, messages: mayRead, stream: mayRead }
      assert.deepEqual(ways, wanted, `${subject} for ${role}`)
    }
})

test('an execution and its output are for those who read its events, and for who has requested it', async () => {
  const headers = { 'x-user-id': 'requester', 'x-user-roles': 'service' }
  const path = '/commands/orders.expire-due'
  const rules = { 'orders.expire-due': { roles: ['service'] } }
  assertAccepted(await api.send({ method: 'PUT', path: '/commands/policy', body: { rules } }), 'the policy')
  const answer = await api.send({ method: 'POST', path: `${path}/execute`, headers, body: {} })
  const { id } = answer.json() as { id: string }
  assert.ok(id, answer.text)
  const waysOf = async (role: Role, user: string) => {
    const as = { 'x-user-id': user }
    return {
      list: (await send('/commands/executions', role, as)).text.includes(id),
      object: (await send(`/commands/executions/${id}`, role, as)).status === 200,
      output: (await send(`/commands/executions/${id}/output`, role, as)).status === 200,
    }
  }
  const everything = { list: true, object: true, output: true }
  assert.deepEqual(await waysOf('service', 'requester'), everything)
  for (const role of ROLES) {
    const mayRead =
      readersOf('/commands/policy').includes(role) || rules['orders.expire-due'].roles.includes(role)
    assert.deepEqual(
      await waysOf(role, 'another'),
      mayRead ? everything : { list: false, object: false, output: false },
      role,
    )
  }
})

test('telemetry is on the stream for those who see its agents with their last items, and is no message', async () => {
  const agent = 'agent-of-ways'
  const sent = await api.send({
    method: 'POST',
    path: '/api/v1/telemetry',
    body: { agent_id: agent, at: '2026-01-31T02:00:00Z', data: { canary: 'item-4711' } },
  })
  assertAccepted(sent, 'telemetry')
  for (const role of ROLES) {
    assert.ok((await send('/api/v1/telemetry/agents', role)).text.includes(agent), role)
    assert.ok((await send(`/api/v1/telemetry/agents/${agent}`, role)).text.includes('item-4711'), role)
    assert.ok(await isStreamed(`telemetry.agent.${agent}`, role), role)
    assert.equal((await send('/messages?limit=1000', role)).text.includes('item-4711'), false, role)
  }
})

test('a backup, which has everything, is for admin; metrics and pages, which everybody gets, have no object', async () => {
  await change('createDataBackup')
  const id = await eventually('a completed backup', async () => {
    const { items } = (await send('/data/backups', 'admin')).json() as {
      items: { id: string; status: string }[]
    }
    return items.find(({ status }) => status === 'completed')?.id
  })
  for (const role of ROLES)
    assert.equal((await send(`/data/backups/${id}/file`, role)).status === 200, role === 'admin', role)
  const objects = (await send('/messages?limit=1000', 'admin')).json() as {
    items: { id: string; payload: { subject?: string; type?: string } }[]
  }
  // Words such as `menus` and `policy` stand for the only object of their kind. The names of heartbeats are labels of a metric.
  const ids = objects.items
    .filter(({ payload: { type = '' } }) => !type.startsWith('heartbeat.'))
    .flatMap(({ id: message, payload: { subject } }) => [message, subject ?? message])
    .filter((each) => each.length > 10)
  assert.ok(ids.includes('order-with-payment'))
  const pageOf = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(api.platform.url + path, { headers })).text()
  for (const path of ['/metrics', '/health', '/console/', '/docs', '/docs/errors', '/openapi.json']) {
    const text = await pageOf(path)
    assert.deepEqual(
      ids.filter((each) => text.includes(each)),
      [],
      path,
    )
    for (const role of ROLES)
      if (path !== '/metrics' && path !== '/health')
        assert.equal(await pageOf(path, { 'x-user-id': 'caller', 'x-user-roles': role }), text, path)
  }
})
