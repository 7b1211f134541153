import assert from 'node:assert/strict'
import { test } from 'node:test'
import { menuWorld, SHOP_IDS } from '../../../test/support/menus.ts'
import { Changes } from '../../infra/http/changes.ts'
import { createHttpServer } from '../../infra/http/server.ts'
import { knownRoles } from '../../kernel/identity.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { menuRoutes } from './routes.ts'

const NOW = '2026-01-31T02:00:00.000Z'
const NOTHING = { created: [], updated: [], moved: [], unchanged: [], deleted: [] }

async function startApi() {
  await using opening = new AsyncDisposableStack()
  const { store, clock, service, events } = opening.use(await menuWorld('sqlite'))
  const server = await createHttpServer({
    routes: menuRoutes(service),
    identify: ({ headers }) => {
      const roles = knownRoles([String(headers['x-user-roles'])])
      return { id: 'anna', name: 'anna', roles, via: 'headers' }
    },
    changes: new Changes({ store }),
    logger: silentLogger,
    metrics: noMetrics,
    version: '0',
    readOnly: false,
    rateLimitPerMinute: 0,
  })
  opening.defer(() => server.close())
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  const opened = opening.move()
  const call = async (method: string, path: string, { body, headers, role = 'admin' }: Call = {}) => {
    const response = await fetch(`http://${address}${path}`, {
      method,
      headers: {
        'x-user-roles': role,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      etag: response.headers.get('etag'),
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  const put = (body: unknown, headers?: Record<string, string>) =>
    call('PUT', '/menus', { body, ...(headers && { headers }) })
  return { call, put, clock, events, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

interface Call {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly role?: string
}

interface Shown {
  readonly id: string
  readonly children?: readonly Shown[]
}

/** The ids of a tree: `{ a: { b: {} } }`. */
function shape(items: readonly Shown[]): Record<string, unknown> {
  return Object.fromEntries(items.map(({ id, children = [] }) => [id, shape(children)]))
}

test('the tree has every field of a node, and its revision as ETag', async () => {
  await using api = await startApi()
  const { status, etag, body } = await api.call('GET', '/menus', { role: 'auditor' })
  assert.deepEqual([status, etag, body.revision], [200, '"1"', 1])
  assert.deepEqual(
    body.items.map(({ id }: Shown) => id),
    SHOP_IDS,
  )
  const { created_at: at, ...node } = body.items[1]
  assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(node, {
    id: 'shop-categories',
    title: 'Categories',
    parent_id: null,
    path: '/categories',
    icon: null,
    position: 1,
    enabled: true,
    updated_at: at,
    children: [],
  })
})

test('an edit is answered with what has changed, and the new ETag', async () => {
  await using api = await startApi()
  const items = [{ id: 'shop-products', children: [{ id: 'books', title: 'Books' }, { id: 'shop-cart' }] }]
  const dry = await api.put({ items, dry_run: true })
  const changed = await api.put({ items }, { 'if-match': '"1"' })
  assert.deepEqual([changed.status, changed.etag], [200, '"2"'])
  assert.deepEqual(changed.body, {
    ...NOTHING,
    revision: 2,
    created: ['books'],
    moved: ['shop-cart'],
    unchanged: ['shop-products'],
  })
  assert.deepEqual([dry.status, dry.etag, dry.body], [200, null, changed.body])
  const { body, etag } = await api.call('GET', '/menus')
  assert.equal(etag, '"2"')
  // The cart keeps its position, 3; the books come behind it.
  assert.deepEqual(shape(body.items.slice(2, 3)), { 'shop-products': { 'shop-cart': {}, books: {} } })
})

test('a disabled node hides its branch; an admin reads all of it', async () => {
  await using api = await startApi()
  const branch = { id: 'a', title: 'A', enabled: false, children: [{ id: 'b', title: 'B' }] }
  await api.put({
    items: [branch, { id: 'c', title: 'C', children: [{ id: 'd', title: 'D' }] }],
    replace: true,
  })
  const shown = async (query: string) => (await api.call('GET', `/menus${query}`)).body.items
  assert.deepEqual(shape(await shown('')), { c: { d: {} } })
  assert.deepEqual(shape(await shown('?all=false')), { c: { d: {} } })
  assert.deepEqual(shape(await shown('?all=true')), { a: { b: {} }, c: { d: {} } })
  const flat = await shown('?all=true&flat=true')
  assert.deepEqual(
    flat.map(({ id }: Shown) => id),
    ['a', 'b', 'c', 'd'],
  )
  assert.ok(flat.every((node: Shown) => !('children' in node)))
  assert.deepEqual(
    (await shown('?flat=true')).map(({ id }: Shown) => id),
    ['c', 'd'],
  )
  const refused = await api.call('GET', '/menus?all=true', { role: 'devops' })
  assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'])
})

test('siblings are ordered by position, then by id', async () => {
  await using api = await startApi()
  const items = [
    { id: 'c', title: 'C', position: 2 },
    { id: 'b', title: 'B', position: 1 },
    { id: 'a', title: 'A', position: 2 },
    { id: 'Z', title: 'Z', position: 2 },
  ]
  await api.put({ items, replace: true })
  const { body } = await api.call('GET', '/menus')
  assert.deepEqual(Object.keys(shape(body.items)), ['b', 'Z', 'a', 'c'])
})

const nested = (levels: number): object =>
  levels === 1 ? { id: 'n1', title: 'x' } : { id: `n${levels}`, title: 'x', children: [nested(levels - 1)] }

/** Without recursion, and without the time that it takes to write such an object. */
const deepBody = (levels: number) =>
  `{"items":[${'{"id":"a","title":"a","children":['.repeat(levels)}${']}'.repeat(levels)}]}`

const REFUSED_EDITS: readonly (readonly [what: string, body: unknown, code: string, path: string])[] = [
  ['without items', {}, 'validation_failed', 'items'],
  ['with an unknown field', { items: [], dryRun: true }, 'validation_failed', 'dryRun'],
  ['with a wrong id', { items: [{ id: 'a b', title: 'A' }] }, 'validation_failed', 'items.0.id'],
  [
    'with an id that is too long',
    { items: [{ id: 'a'.repeat(65), title: 'A' }] },
    'validation_failed',
    'items.0.id',
  ],
  ['with an empty title', { items: [{ id: 'a', title: '' }] }, 'validation_failed', 'items.0.title'],
  [
    'with a title that is too long',
    { items: [{ id: 'a', title: 'é'.repeat(101) }] },
    'validation_failed',
    'items.0.title',
  ],
  [
    'with a path that does not begin with /',
    { items: [{ id: 'a', title: 'A', children: [{ id: 'b', title: 'B', path: 'https://b' }] }] },
    'validation_failed',
    'items.0.children.0.path',
  ],
  [
    'with a path that is too long',
    { items: [{ id: 'a', title: 'A', path: `/${'a'.repeat(256)}` }] },
    'validation_failed',
    'items.0.path',
  ],
  [
    'with an icon that is too long',
    { items: [{ id: 'a', title: 'A', icon: 'a'.repeat(65) }] },
    'validation_failed',
    'items.0.icon',
  ],
  [
    'with a position above 1,000,000',
    { items: [{ id: 'a', title: 'A', position: 1_000_001 }] },
    'validation_failed',
    'items.0.position',
  ],
  ['with a time', { items: [{ id: 'a', created_at: NOW }] }, 'validation_failed', 'items.0.created_at'],
  ['of a new node without a title', { items: [{ id: 'a' }] }, 'validation_failed', 'items.0.title'],
  [
    'with an unknown parent',
    { items: [{ id: 'a', title: 'A', parent_id: 'x' }] },
    'validation_failed',
    'items.0',
  ],
  [
    'that names an id twice',
    {
      items: [
        { id: 'a', title: 'A' },
        { id: 'a', title: 'A' },
      ],
    },
    'validation_failed',
    'items.1',
  ],
  [
    'with two parents',
    { items: [{ id: 'a', title: 'A', children: [{ id: 'shop-cart', parent_id: null }] }] },
    'validation_failed',
    'items.0.children.0',
  ],
  ['with a cycle', { items: [{ id: 'shop-home', parent_id: 'shop-home' }] }, 'menu_cycle', 'items.0'],
  ['with 9 levels', { items: [nested(9)] }, 'validation_failed', `items.0${'.children.0'.repeat(8)}`],
  ['with 20 levels', { items: [nested(20)] }, 'validation_failed', `items.0${'.children.0'.repeat(8)}`],
  ['with 1,000 levels', deepBody(1_000), 'validation_failed', ''],
  [
    'with 10,001 items',
    { items: Array.from({ length: 10_001 }, (_, index) => ({ id: `n${index}` })) },
    'validation_failed',
    'items',
  ],
]

for (const [what, body, code, path] of REFUSED_EDITS) {
  test(`an edit ${what} is 400 ${code}, with the path, and changes nothing`, async () => {
    await using api = await startApi()
    const before = await api.call('GET', '/menus')
    const refused = await api.put(body)
    assert.deepEqual([refused.status, refused.body.code], [400, code])
    const paths = refused.body.details.map((detail: { path: string }) => detail.path)
    assert.ok(paths.includes(path), JSON.stringify(refused.body))
    assert.deepEqual(await api.call('GET', '/menus'), before)
    assert.deepEqual(api.events, [])
  })
}

test('an edit with 8 levels is accepted, with values at their bounds', async () => {
  await using api = await startApi()
  const bounds = {
    title: '😀'.repeat(100),
    path: `/${'a'.repeat(255)}`,
    icon: 'a'.repeat(64),
    position: 1_000_000,
  }
  const { status, body } = await api.put({ items: [{ ...nested(8), ...bounds }] })
  assert.deepEqual([status, body.created.length], [200, 8])
  const { body: tree } = await api.call('GET', '/menus')
  const { title, path, icon, position } = tree.items.at(-1)
  assert.deepEqual({ title, path, icon, position }, bounds)
})

test('an edit or a deletion with another ETag is 412', async () => {
  await using api = await startApi()
  const headers = { 'if-match': '"2"' }
  const edited = await api.put({ items: [{ id: 'a', title: 'A' }] }, headers)
  const deleted = await api.call('DELETE', '/menus/shop-cart', { headers })
  for (const refused of [edited, deleted])
    assert.deepEqual([refused.status, refused.body.code], [412, 'precondition_failed'])
  assert.equal((await api.call('GET', '/menus')).etag, '"1"')
  assert.equal((await api.call('DELETE', '/menus/shop-cart', { headers: { 'if-match': '"1"' } })).status, 204)
})

test('a node without children is deleted with 204; with children it is 409, unknown it is 404', async () => {
  await using api = await startApi()
  await api.put({ items: [{ id: 'shop-cart', parent_id: 'shop-home', enabled: false }] })
  const refused = await api.call('DELETE', '/menus/shop-home')
  assert.deepEqual([refused.status, refused.body.code], [409, 'menu_has_children'])
  for (const id of ['shop-cart', 'shop-home'])
    assert.deepEqual(await api.call('DELETE', `/menus/${id}`), { status: 204, etag: null, body: undefined })
  const unknown = await api.call('DELETE', '/menus/shop-home')
  assert.deepEqual([unknown.status, unknown.body.code], [404, 'menu_not_found'])
})

test('every role reads the menus, and only an admin changes them', async () => {
  await using api = await startApi()
  for (const role of ['devops', 'service', 'auditor']) {
    assert.equal((await api.call('GET', '/menus?flat=true', { role })).status, 200)
    assert.equal((await api.call('PUT', '/menus', { role, body: { items: [] } })).status, 403)
    assert.equal((await api.call('DELETE', '/menus/shop-cart', { role })).status, 403)
  }
})
