import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
import type { Reads, Store } from '../../store/store.ts'
import { createOrderMemory } from './memory.ts'
import { moved, type Order } from './model.ts'
import { insertOrder, moveOrder } from './store.ts'

const FIRST_PAGE = { limit: 10, before: Number.MAX_SAFE_INTEGER }

function order(orderId: string): Order {
  return {
    orderId,
    platform: 'live',
    amountCents: 4_990,
    status: 'pending',
    expiresAt: 2,
    createdAt: 1,
    createdBy: 'test',
    updatedAt: 1,
    paidAt: null,
    shippedAt: null,
    completedAt: null,
    expiredAt: null,
    version: 1,
  }
}

async function filled(store: Store, ids: readonly string[]): Promise<void> {
  for (const id of ids) await store.write((tx) => insertOrder(tx, order(id)))
}

function pay(store: Store, id: string): Promise<boolean> {
  return store.write((tx) => moveOrder(tx, 'pending', moved(order(id), 'paid', 5), 'test'))
}

onEveryDialect('the memory of orders', (dialect) => {
  test('a page shows each order as it is now, remembered or not', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    const readPage = createOrderMemory()
    const statuses = async () =>
      (await readPage(store.read, {}, FIRST_PAGE)).items.map(({ orderId, status }) => `${orderId} ${status}`)
    await filled(store, ['a', 'b'])
    assert.deepEqual(await statuses(), ['b pending', 'a pending'])
    await pay(store, 'a')
    assert.deepEqual(await statuses(), ['b pending', 'a paid'])
  })

  test('an order that has not changed is the very same object again', async () => {
    await using world = await testStore(dialect)
    const readPage = createOrderMemory()
    await filled(world.store, ['a'])
    const [first] = (await readPage(world.store.read, {}, FIRST_PAGE)).items
    const [again] = (await readPage(world.store.read, { status: 'pending' }, FIRST_PAGE)).items
    assert.ok(first)
    assert.equal(first, again)
  })

  test('an order that leaves the page while it is read is not in it', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    await filled(store, ['a', 'b'])
    let paid = false
    const reads: Reads = {
      ...store.read,
      async run(statement, parameters) {
        const rows = await store.read.run(statement, parameters)
        paid ||= await pay(store, 'a')
        return rows
      },
    }
    const { items } = await createOrderMemory()(reads, { status: 'pending' }, FIRST_PAGE)
    assert.ok(paid)
    assert.deepEqual(
      items.map(({ orderId }) => orderId),
      ['b'],
    )
  })

  test('a page that was read before a change is not given after it', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    const readPage = createOrderMemory()
    const ids = async () =>
      (await readPage(store.read, { status: 'pending' }, FIRST_PAGE)).items.map(({ orderId }) => orderId)
    await filled(store, ['a', 'b', 'c'])
    for (const [paid, left] of [
      ['b', ['c', 'a']],
      ['c', ['a']],
      ['a', []],
    ] as const) {
      await Promise.all([ids(), ids()])
      await pay(store, paid)
      assert.deepEqual(await ids(), left)
    }
  })

  test('no more orders are remembered than it may keep, and a longer page is whole all the same', async () => {
    await using world = await testStore(dialect)
    const ids = ['a', 'b', 'c', 'd', 'e']
    await filled(world.store, ids)
    const readPage = createOrderMemory(2)
    const first = await readPage(world.store.read, {}, FIRST_PAGE)
    const again = await readPage(world.store.read, {}, FIRST_PAGE)
    assert.deepEqual(first.items.map(({ orderId }) => orderId).toSorted(), ids)
    assert.deepEqual(again, first)
    const kept = again.items.filter((each, index) => each === first.items[index])
    assert.ok(kept.length <= 2, `${kept.length} are the same objects`)
  })

  for (const filter of [{}, { status: 'paid' }, { platform: 'live' }, { platform: 'none' }] as const) {
    test(`pages of ${JSON.stringify(filter)} follow one another without a gap`, async () => {
      await using world = await testStore(dialect)
      const { store } = world
      await filled(store, ['a', 'b', 'c', 'd', 'e'])
      for (const id of ['a', 'c', 'e']) await pay(store, id)
      const readPage = createOrderMemory()
      const seen: string[] = []
      for (let before: number | null = FIRST_PAGE.before; before !== null;) {
        const page = await readPage(store.read, filter, { limit: 2, before })
        seen.push(...page.items.map(({ orderId }) => orderId))
        before = page.next
      }
      const all = ['e', 'd', 'c', 'b', 'a']
      const expected =
        'status' in filter
          ? ['e', 'c', 'a']
          : 'platform' in filter
            ? { live: all, none: [] }[filter.platform]
            : all
      assert.deepEqual(seen, expected)
    })
  }
})

test('on SQLite a page is the very same object until somebody has committed something', async () => {
  await using world = await testStore('sqlite')
  const { store } = world
  const readPage = createOrderMemory()
  const page = () => readPage(store.read, {}, FIRST_PAGE)
  await filled(store, ['a', 'b'])
  const before = await page()
  assert.equal(await page(), before)
  assert.notEqual(await readPage(store.read, { status: 'pending' }, FIRST_PAGE), before)
  assert.notEqual(await readPage(store.read, {}, { ...FIRST_PAGE, limit: 1 }), before)
  assert.equal(await page(), before)
  await pay(store, 'a')
  assert.notEqual(await page(), before)
})

test('a page that is longer than what may be remembered is read anew each time', async () => {
  await using world = await testStore('sqlite')
  await filled(world.store, ['a', 'b', 'c'])
  const readPage = createOrderMemory(2)
  const page = () => readPage(world.store.read, {}, FIRST_PAGE)
  assert.notEqual(await page(), await page())
})
