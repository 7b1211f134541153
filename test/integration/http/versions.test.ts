import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { EVENT_TYPES } from '../../../src/app/domains.ts'
import { eventually } from '../../support/eventually.ts'
import { assertAccepted, openApi } from './client.ts'
import { sampleOf, toRequest } from './samples.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

/** Facts that never change; and what counts its changes as `revision`, or ends once. */
const WITHOUT_VERSION = [
  'payment.reconciled',
  'vpn.audit.session_registered',
  'vpn.audit.session_closed',
  'vpn.audit.auth_failed',
  'telemetry.agent.*',
  'menu.changed',
  'command.policy_changed',
]

interface Change {
  readonly create: string
  /** Instead of the sample. */
  readonly body?: Readonly<Record<string, unknown>>
  readonly idField?: string
  readonly path: string
  readonly change?: { readonly method: string; readonly path?: string; readonly body?: object }
  /** Of one that changes by itself. */
  readonly isChanged?: (object: Record<string, unknown>) => boolean
}

const isFinished = ({ finished_at }: Record<string, unknown>) => finished_at !== null

const CHANGES: readonly Change[] = [
  {
    create: 'createOrder',
    body: { order_id: 'order-of-versions', platform: 'live', amount_cents: 1 },
    idField: 'order_id',
    path: '/orders',
    change: { method: 'PUT', body: { status: 'paid' } },
  },
  { create: 'createTicket', path: '/tickets', change: { method: 'PUT', body: { comment: 'Looked at.' } } },
  { create: 'reportAlert', path: '/alerts', change: { method: 'POST', path: '/acknowledge', body: {} } },
  { create: 'createSilence', path: '/alerts/silences', change: { method: 'DELETE' } },
  {
    create: 'putHeartbeat',
    idField: 'name',
    path: '/alerts/heartbeats',
    change: { method: 'PUT', body: { every_seconds: 60 } },
  },
  {
    create: 'registerCertificate',
    path: '/certificates',
    change: { method: 'POST', path: '/revoke', body: {} },
  },
  { create: 'createDataBackup', path: '/data/backups', isChanged: isFinished },
]

const EXECUTION: Omit<Change, 'create'> = { path: '/commands/executions', isChanged: isFinished }

async function read(path: string): Promise<Record<string, unknown>> {
  const answer = await api.send({ method: 'GET', path })
  assertAccepted(answer, path)
  return answer.json() as Record<string, unknown>
}

/** The versions in the events about an object, oldest first. */
async function versionsInEvents(id: string): Promise<number[]> {
  const { items } = (await read('/messages?limit=1000')) as {
    items: { payload: { subject?: string; data?: { version?: number; certificate?: { version: number } } } }[]
  }
  return items
    .filter(({ payload }) => payload.subject === id)
    .map(({ payload: { data } }) => data?.version ?? data?.certificate?.version ?? 0)
    .toReversed()
}

async function assertGrowth(created: Record<string, unknown>, change: Omit<Change, 'create'>): Promise<void> {
  const id = String(created[change.idField ?? 'id'])
  const path = `${change.path}/${id}`
  if (change.change) {
    const { method, path: verb = '', body } = change.change
    assertAccepted(await api.send({ method, path: path + verb, body }), path)
  }
  const changed = await eventually('the change', async () => {
    const object = await read(path)
    return change.isChanged?.(object) === false ? undefined : object
  })
  const inEvents = await versionsInEvents(id)
  assert.equal(created['version'], 1, path)
  assert.ok(Number(changed['version']) > 1, `${path} has the version ${String(changed['version'])}`)
  assert.deepEqual([inEvents[0], inEvents.at(-1)], [1, changed['version']], path)
  assert.deepEqual(
    inEvents,
    [...new Set(inEvents)].sort((a, b) => a - b),
    path,
  )
}

for (const change of CHANGES)
  test(`${change.path}: the version grows with each change, in the body and in the events`, async () => {
    const place = api.places.find(({ operation: { operationId } }) => operationId === change.create)
    assert.ok(place, change.create)
    const sample = sampleOf(place)
    const answer = await api.send(toRequest(place, change.body ? { ...sample, body: change.body } : sample))
    assertAccepted(answer, change.create)
    await assertGrowth(answer.json() as Record<string, unknown>, change)
  })

test('/commands/executions: the version grows with each change, in the body and in the events', async () => {
  const path = '/commands/orders.expire-due/execute'
  const answer = await api.send({ method: 'POST', path, body: {} })
  assertAccepted(answer, path)
  await assertGrowth(answer.json() as Record<string, unknown>, EXECUTION)
})

test('the data of every event has a version, unless it never changes', () => {
  const without = EVENT_TYPES.filter(({ schema }) => !JSON.stringify(schema).includes('"version"'))
  assert.deepEqual(
    without.map(({ subject }) => subject),
    WITHOUT_VERSION,
  )
})
