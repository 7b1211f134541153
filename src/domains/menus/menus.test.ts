import assert from 'node:assert/strict'
import { test } from 'node:test'
import { menuWorld, parentsOf, SHOP_IDS } from '../../../test/support/menus.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { emptyDatabase, onEveryDialect } from '../../../test/support/store.ts'
import { fieldFault } from '../../kernel/errors.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { migrate } from '../../store/migrate.ts'
import { openStore } from '../../store/open.ts'
import { placeEdit } from './items.ts'
import { orderedNodes, NODE_LIMIT, TEXT_LIMIT_BYTES, type MenuItem } from './model.ts'
import { readTree } from './store.ts'

const BOOKS: MenuItem = { id: 'books', title: 'Books', parentId: 'shop-products' }

/** Flat items, in groups of 100 with one parent. */
const manyItems = (count: number, prefix: string): MenuItem[] =>
  Array.from({ length: count }, (_, index) => {
    const id = `${prefix}${String(index).padStart(5, '0')}`.padEnd(64, '-')
    const parent = `${prefix}${String(index - (index % 100)).padStart(5, '0')}`.padEnd(64, '-')
    return { id, title: 'x', ...(id !== parent && { parentId: parent }) }
  })

onEveryDialect('menus', (dialect) => {
  test('a new database has the menus of the shop, at the time of the migration', async () => {
    const clock = fakeClock()
    await using opened = new AsyncDisposableStack()
    const { address, drop } = await emptyDatabase(dialect)
    opened.defer(drop)
    const options = { database: address, clock, metrics: noMetrics, logger: silentLogger }
    const store = opened.adopt(await openStore(options), (each) => each.close())
    await migrate(store, clock)
    const { revision, nodes } = await readTree(store.read)
    assert.equal(revision, 1)
    assert.deepEqual(
      orderedNodes(nodes).map(({ id, parentId, enabled, createdAt }) => [id, parentId, enabled, createdAt]),
      SHOP_IDS.map((id) => [id, null, true, clock.now()]),
    )
  })

  test('an edit creates, changes, moves and deletes nodes, and emits one event', async () => {
    await using w = await menuWorld(dialect)
    const [home] = orderedNodes((await w.service.read()).nodes)
    w.clock.advance(1_000)
    const edit = {
      items: [
        { id: 'shop-home', title: 'Welcome', icon: 'house' },
        { id: 'shop-products', children: [BOOKS, { id: 'shop-cart' }] },
      ],
      replace: true,
    }
    const change = await w.menus.edit(edit, 'ada')
    assert.deepEqual(change, {
      revision: 2,
      created: ['books'],
      updated: ['shop-home'],
      moved: ['shop-cart'],
      unchanged: ['shop-products'],
      deleted: ['shop-categories', 'shop-orders', 'shop-account'],
    })
    const { revision, nodes } = await w.service.read()
    assert.equal(revision, 2)
    assert.deepEqual(parentsOf(nodes), {
      'shop-home': null,
      'shop-products': null,
      'shop-cart': 'shop-products',
      books: 'shop-products',
    })
    assert.deepEqual(
      nodes.find(({ id }) => id === 'shop-home'),
      { ...home, title: 'Welcome', icon: 'house', updatedAt: w.clock.now() },
    )
    const { unchanged: _, ...data } = change
    assert.deepEqual(w.events, [{ type: 'menu.changed', subject: 'menus', data }])
  })

  test('an edit that changes nothing keeps the revision and emits nothing', async () => {
    await using w = await menuWorld(dialect)
    const before = await w.service.read()
    w.clock.advance(1_000)
    const change = await w.menus.edit({ items: [{ id: 'shop-home', title: 'Home' }] }, 'ada')
    assert.deepEqual([change.revision, change.unchanged], [1, ['shop-home']])
    assert.deepEqual([await w.service.read(), w.events], [before, []])
  })

  test('a dry run answers as the edit would, and changes nothing', async () => {
    await using w = await menuWorld(dialect)
    const before = await w.service.read()
    const edit = { items: [BOOKS, { id: 'shop-cart', parentId: 'books' }] }
    const dry = await w.menus.edit({ ...edit, dryRun: true }, 'ada')
    assert.deepEqual([await w.service.read(), w.events], [before, []])
    assert.deepEqual(await w.menus.edit(edit, 'ada'), dry)
  })

  test('a refused edit changes nothing', async () => {
    await using w = await menuWorld(dialect)
    const before = await w.service.read()
    const items = [BOOKS, { id: 'shop-products', parentId: 'books' }]
    await assert.rejects(w.menus.edit({ items }, 'ada'), {
      code: 'menu_cycle',
      details: [fieldFault('items.0', 'menu_cycle', { loop: 'books → shop-products → books' })],
    })
    assert.deepEqual([await w.service.read(), w.events], [before, []])
  })

  test('an edit of another revision than the expected ones is refused', async () => {
    await using w = await menuWorld(dialect)
    const edit = { items: [BOOKS] }
    await assert.rejects(w.menus.edit(edit, 'ada', [2]), {
      code: 'precondition_failed',
      message: 'The tree of menus has changed; its ETag is "1" now.',
    })
    assert.equal((await w.menus.edit(edit, 'ada', [1, 7])).revision, 2)
    await assert.rejects(w.menus.edit({ ...edit, dryRun: true }, 'ada', [1]), { code: 'precondition_failed' })
    await assert.rejects(w.menus.remove('books', 'ada', [1]), { code: 'precondition_failed' })
    await w.menus.remove('books', 'ada', [2])
  })

  test('a node without children is deleted, with an event; one with children is not', async () => {
    await using w = await menuWorld(dialect)
    await w.menus.edit({ items: [{ ...BOOKS, enabled: false }] }, 'ada')
    await assert.rejects(w.menus.remove('shop-products', 'ada'), { code: 'menu_has_children' })
    await w.menus.remove('books', 'ada')
    await w.menus.remove('shop-products', 'ada')
    await assert.rejects(w.menus.remove('books', 'ada'), { code: 'menu_not_found' })
    const { revision, nodes } = await w.service.read()
    assert.deepEqual([revision, nodes.length], [4, SHOP_IDS.length - 1])
    const data = { revision: 4, created: [], updated: [], moved: [], deleted: ['shop-products'] }
    assert.deepEqual(w.events.at(-1), { type: 'menu.changed', subject: 'menus', data })
  })

  test('a menu of the shop that was deleted does not come back with the next start', async () => {
    await using w = await menuWorld(dialect)
    await w.menus.remove('shop-cart', 'ada')
    assert.deepEqual(await migrate(w.store, w.clock), [])
    const { nodes } = await w.service.read()
    assert.deepEqual(
      orderedNodes(nodes).map(({ id }) => id),
      SHOP_IDS.filter((id) => id !== 'shop-cart'),
    )
  })

  test('a tree without nodes has a revision', async () => {
    await using w = await menuWorld(dialect)
    await w.menus.edit({ items: [], replace: true }, 'ada')
    assert.deepEqual(await w.service.read(), { revision: 2, nodes: [] })
    assert.equal((await w.menus.edit({ items: [{ id: 'a', title: 'A' }] }, 'ada')).revision, 3)
  })

  test('an edit of many nodes goes on in further turns of the event loop, also while it computes', async () => {
    await using w = await menuWorld(dialect)
    const edit = placeEdit({ items: manyItems(5_000, 'a'), dryRun: true })
    let turns = 0
    let isDone = false
    const onTurn = () => {
      turns++
      if (!isDone) setImmediate(onTurn)
    }
    setImmediate(onTurn)
    const { created } = await w.store.write((tx) => w.service.edit(tx, edit, 'ada'))
    isDone = true
    assert.equal(created.length, 5_000)
    assert.ok(turns >= 15, `${turns} turns`)
  })

  test('a tree with more text than an answer takes is refused, and one of an earlier release does not grow', async () => {
    await using w = await menuWorld(dialect)
    const largest = (count: number): MenuItem[] =>
      manyItems(count, 'a').map((item) => ({ ...item, path: `/${'\u0001'.repeat(255)}` }))
    const fits = Math.floor(TEXT_LIMIT_BYTES / 1_700)
    await w.menus.edit({ items: largest(fits) }, 'ada')
    const refused = {
      code: 'validation_failed',
      details: [fieldFault('items', 'menu_too_much_text', { maximum: '6 MiB' })],
    }
    await assert.rejects(w.menus.edit({ items: largest(fits + 200) }, 'ada'), refused)
    await w.store.write(({ db }) =>
      db
        .updateTable('menus')
        .set({ icon: '\u0001'.repeat(64) })
        .execute(),
    )
    await assert.rejects(w.menus.edit({ items: [{ id: 'b', title: 'B' }] }, 'ada'), refused)
    const smaller = await w.menus.edit({ items: [{ id: 'shop-home', icon: 'house' }] }, 'ada')
    assert.deepEqual(smaller.updated, ['shop-home'])
  })

  test('the largest tree is written, replaced by another one, and refused one more node', async () => {
    await using w = await menuWorld(dialect)
    const edit = (items: readonly MenuItem[], replace: boolean) =>
      w.store.write((tx) => w.service.edit(tx, placeEdit({ items, replace }), 'ada'))
    await edit(manyItems(NODE_LIMIT, 'a'), true)
    await assert.rejects(edit([{ id: 'b', title: 'B' }], false), {
      code: 'validation_failed',
      details: [fieldFault('items.0', 'menu_too_many', { maximum: 10_000 })],
    })
    const second = manyItems(NODE_LIMIT, 'b')
    const change = await edit(second, true)
    assert.deepEqual([change.created.length, change.deleted.length], [NODE_LIMIT, NODE_LIMIT])
    const { nodes } = await w.service.read()
    assert.deepEqual(new Set(nodes.map(({ id }) => id)), new Set(second.map(({ id }) => id)))
    // The bus refuses messages of more than 1 MiB.
    const { data } = w.events.at(-1) ?? assert.fail()
    assert.equal(data.truncated, true)
    assert.equal(data.created.length, NODE_LIMIT)
    assert.ok(data.deleted.length > 0 && data.deleted.length < NODE_LIMIT)
    assert.ok(Buffer.byteLength(JSON.stringify(data)) < 1024 * 1024)
  })
})
