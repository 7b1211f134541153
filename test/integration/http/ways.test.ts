import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { DOMAINS } from '../../../src/app/domains.ts'
import { ROLES, type Role } from '../../../src/kernel/identity.ts'
import { eventually } from '../../support/eventually.ts'
import { assertAccepted, openApi } from './client.ts'
import { EXPECTED_ACCESS } from './expected-access.ts'
import { sampleOf, toRequest } from './samples.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

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

test('no way shows what another one refuses: lists, tables, messages and the stream, for each role', async () => {
  for (const operation of CHANGES) {
    const place = api.places.find(({ operation: { operationId } }) => operationId === operation)
    assert.ok(place, operation)
    assertAccepted(await api.send(toRequest(place, sampleOf(place))), operation)
  }
  const messages = await eventually('an event of each', async () => {
    const { items } = (await send('/messages?limit=1000', 'admin')).json() as {
      items: { id: string; subject: string }[]
    }
    return new Set(items.map(({ subject }) => listOf(subject))).size >= CHANGES.length ? items : undefined
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
