import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startRouteServer, type RouteCall } from '../../../test/support/route-server.ts'
import { ticketWorld, USER_ID } from '../../../test/support/tickets.ts'
import { ticketRoutes } from './routes.ts'

const NEW = { title: 'The shop does not answer', level: 'critical' }
const NOW = '2026-01-31T02:00:00.000Z'

async function startApi() {
  await using opening = new AsyncDisposableStack()
  const { store, clock, service } = opening.use(await ticketWorld('sqlite'))
  const server = opening.use(await startRouteServer({ store, clock, routes: ticketRoutes(service) }))
  const opened = opening.move()
  const call = async (method: string, path: string, options: RouteCall = {}) => {
    const response = await server.send(method, path, { role: 'devops', ...options })
    const text = await response.text()
    return { status: response.status, etag: response.headers.get('etag'), body: JSON.parse(text) }
  }
  return { call, clock, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

test('a ticket is created with 201, and read with its description and comments', async () => {
  await using api = await startApi()
  const { status, body, etag } = await api.call('POST', '/tickets', {
    body: { ...NEW, description: 'Since noon.', assignee: null },
  })
  assert.deepEqual([status, etag], [201, '"1"'])
  assert.deepEqual(body, {
    id: body.id,
    ...NEW,
    status: 'open',
    source: null,
    assignee: null,
    comment_count: 0,
    created_by: 'anna',
    created_at: NOW,
    updated_at: NOW,
    resolved_at: null,
    closed_at: null,
    version: 1,
    description: 'Since noon.',
    comments: [],
  })
  assert.match(body.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  assert.deepEqual(await api.call('GET', `/tickets/${body.id}`), { status: 200, etag: '"1"', body })
})

test('an unclosed ticket with the same dedup key is answered with 200', async () => {
  await using api = await startApi()
  const first = await api.call('POST', '/tickets', { body: { ...NEW, dedup_key: 'shop' } })
  const second = await api.call('POST', '/tickets', {
    body: { title: 'other', level: 'low', dedup_key: 'shop' },
  })
  assert.deepEqual([first.status, second.status], [201, 200])
  assert.deepEqual(second.body, first.body)
})

test('a change is answered with the whole ticket and its new ETag; the list has neither description nor comments', async () => {
  await using api = await startApi()
  const { body: ticket } = await api.call('POST', '/tickets', { body: NEW })
  api.clock.advance(1_000)
  const changed = await api.call('PUT', `/tickets/${ticket.id}`, {
    body: { status: 'resolved', comment: 'Restarted.', assignee: USER_ID },
    headers: { 'if-match': '"1"' },
  })
  assert.deepEqual([changed.status, changed.etag], [200, '"2"'])
  const at = '2026-01-31T02:00:01.000Z'
  const [comment] = changed.body.comments
  assert.deepEqual(changed.body, {
    ...ticket,
    status: 'resolved',
    assignee: USER_ID,
    comment_count: 1,
    updated_at: at,
    resolved_at: at,
    version: 2,
    comments: [{ id: comment.id, at, author: 'anna', text: 'Restarted.' }],
  })
  const list = await api.call('GET', '/tickets?status=resolved&level=critical&limit=1')
  const { description: _description, comments: _comments, ...listed } = changed.body
  assert.deepEqual(list.body, { items: [listed], next_cursor: null })
})

test('a change of another version than the one in If-Match is 412', async () => {
  await using api = await startApi()
  const { body } = await api.call('POST', '/tickets', { body: NEW })
  const change = { body: { level: 'low' }, headers: { 'if-match': '"2"' } }
  const refused = await api.call('PUT', `/tickets/${body.id}`, change)
  assert.deepEqual([refused.status, refused.body.code], [412, 'precondition_failed'])
})

test('the history has every change with its actor, page by page', async () => {
  await using api = await startApi()
  const { body } = await api.call('POST', '/tickets', { body: NEW })
  await api.call('PUT', `/tickets/${body.id}`, { body: { status: 'closed', comment: 'A test.' } })
  const first = await api.call('GET', `/tickets/${body.id}/history?limit=1`)
  assert.deepEqual(first.body.items, [
    {
      at: NOW,
      actor: 'anna',
      changes: { status: [null, 'open'], level: [null, 'critical'], title: [null, NEW.title] },
    },
  ])
  const next = await api.call('GET', `/tickets/${body.id}/history?cursor=${first.body.next_cursor}`)
  assert.deepEqual(next.body, {
    items: [{ at: NOW, actor: 'anna', changes: { status: ['open', 'closed'], comment: [null, 'A test.'] } }],
    next_cursor: null,
  })
})

const REFUSED: readonly (readonly [what: string, body: unknown, path: string])[] = [
  ['without a title', { level: 'low' }, 'title'],
  ['with a title of 201 characters', { ...NEW, title: 'x'.repeat(201) }, 'title'],
  ['with an unknown level', { ...NEW, level: 'CRITICAL' }, 'level'],
  ['with a long description', { ...NEW, description: 'x'.repeat(16_385) }, 'description'],
  ['with an empty source', { ...NEW, source: '' }, 'source'],
  ['with a long dedup key', { ...NEW, dedup_key: 'x'.repeat(129) }, 'dedup_key'],
  ['with an unknown assignee', { ...NEW, assignee: 'nobody' }, 'assignee'],
  ['with a status', { ...NEW, status: 'open' }, 'status'],
]

for (const [what, body, path] of REFUSED) {
  test(`a new ticket ${what} is refused, and the field is named`, async () => {
    await using api = await startApi()
    const refused = await api.call('POST', '/tickets', { body })
    assert.deepEqual([refused.status, refused.body.code], [400, 'validation_failed'])
    assert.equal(refused.body.details[0].path, path)
    assert.deepEqual((await api.call('GET', '/tickets')).body.items, [])
  })
}

const REFUSED_EDITS: readonly (readonly [what: string, body: unknown, status: number, code: string])[] = [
  ['without a field', {}, 400, 'validation_failed'],
  ['with an empty comment', { comment: '' }, 400, 'validation_failed'],
  ['with a comment of 4,097 characters', { comment: 'x'.repeat(4_097) }, 400, 'validation_failed'],
  ['with a description', { description: 'new' }, 400, 'validation_failed'],
  ['with an unknown assignee', { assignee: 'nobody' }, 400, 'validation_failed'],
]

for (const [what, body, status, code] of REFUSED_EDITS) {
  test(`a change ${what} is refused, and changes nothing`, async () => {
    await using api = await startApi()
    const { body: ticket } = await api.call('POST', '/tickets', { body: NEW })
    const refused = await api.call('PUT', `/tickets/${ticket.id}`, { body })
    assert.deepEqual([refused.status, refused.body.code], [status, code])
    assert.deepEqual((await api.call('GET', `/tickets/${ticket.id}`)).body, ticket)
  })
}

test('a move that is not allowed is 409; an unknown ticket is 404', async () => {
  await using api = await startApi()
  const { body: ticket } = await api.call('POST', '/tickets', { body: NEW })
  await api.call('PUT', `/tickets/${ticket.id}`, { body: { status: 'closed' } })
  const refused = await api.call('PUT', `/tickets/${ticket.id}`, { body: { status: 'resolved' } })
  assert.deepEqual([refused.status, refused.body.code], [409, 'invalid_transition'])
  for (const [method, path, body] of [
    ['GET', '/tickets/nowhere', undefined],
    ['GET', '/tickets/nowhere/history', undefined],
    ['PUT', '/tickets/nowhere', { level: 'low' }],
  ] as const) {
    const unknown = await api.call(method, path, { body })
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'ticket_not_found'])
  }
})

test('an auditor reads tickets and changes none', async () => {
  await using api = await startApi()
  const { body: ticket } = await api.call('POST', '/tickets', { body: NEW, role: 'service' })
  assert.equal((await api.call('GET', `/tickets/${ticket.id}`, { role: 'auditor' })).status, 200)
  assert.equal((await api.call('POST', '/tickets', { body: NEW, role: 'auditor' })).status, 403)
  const change: RouteCall = { body: { level: 'low' }, role: 'auditor' }
  assert.equal((await api.call('PUT', `/tickets/${ticket.id}`, change)).status, 403)
})
