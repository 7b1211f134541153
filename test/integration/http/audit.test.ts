import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { openApi, type Api } from './client.ts'
import { PASSWORD } from './samples.ts'
import { signIn } from './tokens.ts'

/** What only the program does, or what is recorded elsewhere: these operations have no record in the audit trail. */
const NOT_RECORDED: Readonly<Record<string, string>> = {
  createOrder: 'its history',
  moveOrder: 'its history',
  createPayment: 'the payer; its history',
  receivePaymentCallback: 'the provider; its history',
  publishMessage: 'the message',
  reportAlert: 'a program; its history',
  postPrometheusAlerts: 'a program; the histories',
  postAlertmanagerNotification: 'a program; the histories',
  beatHeartbeat: 'its pings',
  ping: 'its pings',
  pingWithBody: 'its pings',
  pingSignal: 'its pings',
  pingSignalWithBody: 'its pings',
  sendTelemetry: 'a program',
}

interface Row {
  readonly id: string
  readonly at: string
  readonly actor: { readonly id: string; readonly name: string; readonly kind: string }
  readonly operation: string
  readonly target: { readonly kind: string; readonly id: string | null }
  readonly request_id: string | null
  readonly remote_address: string | null
  readonly changes: Readonly<Record<string, readonly [unknown, unknown]>>
  readonly outcome: string
}

let api: Api

before(async () => {
  api = await openApi()
})
after(() => api[Symbol.asyncDispose]())

async function rows(query: string): Promise<readonly Row[]> {
  const answer = await api.send({ method: 'GET', path: `/audit?limit=1000&${query}` })
  assert.equal(answer.status, 200, answer.text)
  return (answer.json() as { items: Row[] }).items
}

const send = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  api.send({ method, path, ...(body && { body }), ...(headers && { headers }) })

test('every operation that changes something names its target for the audit trail, or says here why not', () => {
  // A sign-in is recorded by the domain that it belongs to; a read of raw bytes changes nothing.
  const others = ['login', 'redeemTicket', 'pingSignal', 'ping']
  const changing = api.places.filter(({ method }) => method.toLowerCase() !== 'get')
  const silent = changing
    .map(({ operation }) => operation)
    .filter((operation) => operation['x-audit-target'] === undefined)
    .map(({ operationId }) => operationId)
    .filter((name) => !others.includes(name))
  const exempt = Object.keys(NOT_RECORDED).filter((name) => !others.includes(name))
  assert.deepEqual(silent.toSorted(), exempt.toSorted())
})

test('a change has a row: who, what, before and after, from where, by which request', async () => {
  const { id, token } = await signIn(api, ['admin'])
  const created = (
    await send('POST', '/users', { name: 'bob', password: PASSWORD, roles: ['devops'] })
  ).json() as {
    id: string
  }
  const changed = await send(
    'PATCH',
    `/users/${created.id}`,
    { roles: ['auditor'] },
    {
      authorization: `Bearer ${token}`,
      'x-request-id': 'request-7',
    },
  )
  assert.equal(changed.status, 200)
  const [row] = await rows(`target=user:${created.id}&operation=updateUser`)
  assert.ok(row)
  assert.equal(row.actor.id, id)
  assert.equal(row.actor.kind, 'user')
  assert.deepEqual(
    { ...row, id: '', at: '', actor: {} },
    {
      id: '',
      at: '',
      actor: {},
      operation: 'updateUser',
      target: { kind: 'user', id: created.id },
      request_id: 'request-7',
      remote_address: '127.0.0.1',
      changes: { roles: [['devops'], ['auditor']] },
      outcome: 'done',
    },
  )
  assert.deepEqual((await rows(`actor=${id}&operation=updateUser`)).length, 1)
  assert.deepEqual((await rows(`actor=${row.actor.name}&operation=updateUser`)).length, 1)
})

test('a refused call, a sign-in, a refused one and a sign-out have rows; what changes nothing has none', async () => {
  const { id, token } = await signIn(api, ['auditor'])
  const headers = { authorization: `Bearer ${token}` }
  assert.equal((await send('DELETE', `/users/${id}`, undefined, headers)).status, 403)
  const name = (await rows(`actor=${id}&operation=signIn`))[0]?.actor.name ?? ''
  await send('POST', '/auth/login', { username: name, password: 'a wrong password' })
  await send('POST', '/auth/login', { username: 'the secret of somebody', password: 'a wrong password' })
  await send(
    'PUT',
    `/users/${id}/password`,
    { password: PASSWORD, old_password: 'a wrong password' },
    headers,
  )
  await send('GET', `/data/backups/${id}/file`, undefined, headers)
  await send('POST', '/commands/orders.expire-due/execute', { reason: 'late' }, headers)
  await send('POST', '/auth/logout', undefined, headers)
  assert.deepEqual(
    (await rows(`actor=${id}`))
      .map(({ operation, outcome, target }) => [operation, outcome, target])
      .toReversed(),
    [
      ['signIn', 'done', { kind: 'user', id }],
      ['deleteUser', 'refused', { kind: 'user', id }],
      ['signIn', 'refused', { kind: 'user', id }],
      ['setPassword', 'refused', { kind: 'user', id }],
      ['getDataBackupFile', 'refused', { kind: 'data-backup', id }],
      ['executeCommand', 'refused', { kind: 'command', id: 'orders.expire-due' }],
      ['logout', 'done', { kind: 'user', id }],
    ],
  )
  const heartbeat = { every_seconds: 60, grace_seconds: 0, severity: 'HIGH', source: 'test' }
  for (let times = 0; times < 2; times++) await send('PUT', '/alerts/heartbeats/once', heartbeat)
  assert.equal((await rows('target=heartbeat:once')).length, 1)
  const keyed = {
    'idempotency-key': 'one',
    'x-user-id': 'tester',
    'x-user-roles': 'admin',
    'content-type': 'application/json',
  }
  for (let times = 0; times < 2; times++)
    await send('POST', '/tickets', { title: 'keyed', level: 'low' }, keyed)
  const tickets = await rows('operation=createTicket')
  assert.equal(tickets.filter(({ changes }) => changes['title']?.[1] === 'keyed').length, 1)
  await send('PUT', '/menus', { items: [{ id: 'shop', title: 'Shop' }], dry_run: true })
  await send('PUT', '/menus', { items: [{ id: 'shop', title: 'Shop' }] })
  const [menu, ...more] = await rows('operation=editMenus')
  assert.equal(more.length, 0)
  assert.deepEqual([menu?.target.id, Object.keys(menu?.changes ?? {})], ['shop', ['shop']])
})

test('no token, no password, no secret address and no hash of one is in the trail', async () => {
  const user = await signIn(api, ['devops'])
  const created = await send('POST', `/users/${user.id}/tokens`, { name: 'cash desk' })
  const { token, id } = created.json() as { token: string; id: string }
  const put = await send('PUT', '/alerts/heartbeats/secret', {
    every_seconds: 60,
    grace_seconds: 0,
    source: 'test',
  })
  const { ping_url } = put.json() as { ping_url: string }
  await send('PUT', `/users/${user.id}/password`, { password: 'another brass telescope' })
  await send('DELETE', `/users/${user.id}/tokens/${id}`)
  const exported = await send('GET', '/audit/export')
  const lines = exported.text.trimEnd().split('\n')
  assert.ok(lines.length > 10)
  for (const line of lines) JSON.parse(line)
  for (const secret of [
    token,
    user.token,
    ping_url.slice(-32),
    'another brass telescope',
    PASSWORD,
    'of somebody',
  ])
    assert.ok(!exported.text.includes(secret), secret)
  assert.match(exported.text, /"operation":"revokeApiToken".*"cash desk"/)
})

test('the trail is sealed by the worker, and the seal is in the log and the metrics', async () => {
  const answer = await eventually('a seal', async () => {
    const { seal } = (await send('GET', '/audit/seal')).json() as { seal: string | null }
    return seal ?? undefined
  })
  assert.match(answer, /^\d+:[\w-]{22}$/)
  const { text } = await send('GET', '/metrics')
  assert.match(text, /^platform_audit_sealed_rows [1-9]/m)
  assert.ok(api.platform.logs().some((line) => typeof line['seal'] === 'string'))
})

test('a start records the settings by codes, and an unknown form of a target is refused', async () => {
  const [row] = await rows('operation=start')
  assert.equal(row?.actor.kind, 'system')
  assert.equal(row?.target.kind, 'settings')
  assert.equal((await send('GET', '/audit?target=user')).status, 400)
})
