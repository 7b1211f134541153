import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXPIRY_MS, orderWorld, WANTED } from '../../../test/support/orders.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import type { Page, PagePosition } from '../../kernel/page.ts'
import { MINUTE } from '../../kernel/time.ts'
import { sortOf, type OrderFilter } from './list.ts'
import { ORDER_MOVES, ORDER_STATUSES, type ListedOrder } from './model.ts'

const FIRST_PAGE = { limit: 100 }

onEveryDialect('orders', (dialect) => {
  test('a new order is pending, expires after the default time, and emits one event', async () => {
    await using w = await orderWorld(dialect)
    const { order, outcome } = await w.orders.create(WANTED, 'client')
    assert.equal(outcome, 'created')
    assert.equal(order.status, 'pending')
    assert.equal(order.expiresAt, w.clock.now() + EXPIRY_MS)
    assert.deepEqual(await w.orders.get('o-1'), order)
    assert.deepEqual(
      w.events.map(({ type, subject, data }) => [type, subject, data.status]),
      [['order.created', 'o-1', 'pending']],
    )
  })

  test('creating the same order again returns the existing one; a different one with its id is refused', async () => {
    await using w = await orderWorld(dialect)
    const { order } = await w.orders.create({ ...WANTED, expiresAt: 5_000 }, 'client')
    w.clock.advance(MINUTE)
    assert.deepEqual(await w.orders.create(WANTED, 'client'), { order, outcome: 'unchanged' })
    assert.deepEqual(await w.orders.create({ ...WANTED, expiresAt: 5_000 }, 'other'), {
      order,
      outcome: 'unchanged',
    })
    for (const different of [{ platform: 'shop' }, { amountCents: 1 }, { expiresAt: 5_001 }]) {
      await assert.rejects(w.orders.create({ ...WANTED, ...different }, 'client'), { code: 'order_exists' })
    }
    assert.equal(w.events.length, 1)
  })

  test('concurrent creations of the same order create it once', async () => {
    await using w = await orderWorld(dialect)
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => w.orders.create(WANTED, 'client')))
    assert.equal(outcomes.filter(({ outcome }) => outcome === 'created').length, 1)
    assert.equal(w.events.length, 1)
  })

  test('an event that cannot be written rolls back the order', async () => {
    await using w = await orderWorld(dialect)
    w.faults.append = true
    await assert.rejects(w.orders.create(WANTED, 'client'), /outbox is full/)
    await assert.rejects(w.orders.get('o-1'), { code: 'order_not_found' })
  })

  for (const from of ORDER_STATUSES) {
    for (const to of ORDER_STATUSES) {
      const allowed = ORDER_MOVES[from].some((next) => next === to)
      const expectation = from === to ? 'changes nothing' : allowed ? 'succeeds' : 'is refused'
      test(`moving an order from ${from} to ${to} ${expectation}`, async () => {
        await using w = await orderWorld(dialect)
        const before = await w.orderIn(from)
        const eventsBefore = w.events.length
        w.clock.advance(1_000)
        if (from !== to && !allowed) {
          await assert.rejects(w.orders.move(before.orderId, to, 'client'), (error: Error) => {
            assert.equal('code' in error && error.code, 'invalid_transition')
            for (const move of ORDER_MOVES[from]) assert.match(error.message, new RegExp(move))
            return true
          })
          assert.deepEqual(await w.orders.get(before.orderId), before)
          return
        }
        const after = await w.orders.move(before.orderId, to, 'client')
        assert.equal(after.status, to)
        assert.equal(after.version, before.version + (from === to ? 0 : 1))
        assert.equal(w.events.length, eventsBefore + (from === to ? 0 : 1))
        assert.deepEqual(await w.orders.get(before.orderId), after)
      })
    }
  }

  test('the history contains every change with its time and its actor, oldest first', async () => {
    await using w = await orderWorld(dialect)
    const start = w.clock.now()
    await w.orders.create(WANTED, 'client')
    w.clock.advance(1_000)
    await w.orders.move('o-1', 'paid', 'cashier')
    w.clock.advance(1_000)
    await w.orders.move('o-1', 'shipped', 'depot')
    assert.deepEqual(await w.orders.history('o-1'), [
      { at: start, from: null, to: 'pending', actor: 'client' },
      { at: start + 1_000, from: 'pending', to: 'paid', actor: 'cashier' },
      { at: start + 2_000, from: 'paid', to: 'shipped', actor: 'depot' },
    ])
    await assert.rejects(w.orders.history('none'), { code: 'order_not_found' })
  })

  test('a move with expected versions is refused for any other version', async () => {
    await using w = await orderWorld(dialect)
    await w.orders.create(WANTED, 'client')
    await assert.rejects(w.orders.move('o-1', 'paid', 'client', [2]), {
      code: 'precondition_failed',
      message: 'The order has changed; its ETag is "1" now.',
    })
    assert.equal((await w.orders.move('o-1', 'paid', 'client', [7, 1])).status, 'paid')
    await assert.rejects(w.orders.move('o-1', 'shipped', 'client', [1]), { code: 'precondition_failed' })
  })

  test('an overdue order expires once, with one event and one alert', async () => {
    await using w = await orderWorld(dialect)
    await w.orders.create(WANTED, 'client')
    assert.deepEqual(await w.orders.expireDue(100), { due: 0, expired: 0 })
    w.clock.advance(EXPIRY_MS)
    const scans = await Promise.all([1, 2, 3, 4].map(() => w.orders.expireDue(100)))
    assert.equal(
      scans.reduce((sum, { expired }) => sum + expired, 0),
      1,
    )
    const order = await w.orders.get('o-1')
    assert.deepEqual([order.status, order.expiredAt], ['expired', w.clock.now()])
    assert.deepEqual(
      w.events.map(({ type }) => type),
      ['order.created', 'order.timeout'],
    )
    assert.deepEqual(
      w.alerts.map(({ alarmId }) => alarmId),
      ['order.timeout:o-1'],
    )
  })

  test('an order that is created with a past expiry time is due immediately', async () => {
    await using w = await orderWorld(dialect)
    await w.orders.create({ ...WANTED, expiresAt: 0 }, 'client')
    assert.deepEqual(await w.orders.expireDue(100), { due: 1, expired: 1 })
  })

  test('an order does not expire when the clock is set back between the scan and the change', async () => {
    await using w = await orderWorld(dialect)
    await w.orders.create(WANTED, 'client')
    w.clock.advance(EXPIRY_MS)
    const scan = w.orders.expireDue(100)
    w.clock.jump(-MINUTE)
    assert.deepEqual(await scan, { due: 1, expired: 0 })
    assert.equal((await w.orders.get('o-1')).status, 'pending')
  })

  test('a paid order never expires', async () => {
    await using w = await orderWorld(dialect)
    await w.orderIn('paid')
    w.clock.advance(EXPIRY_MS * 2)
    assert.deepEqual(await w.orders.expireDue(100), { due: 0, expired: 0 })
  })

  test('of a concurrent payment and expiry one succeeds, and the history records only that one', async () => {
    await using w = await orderWorld(dialect)
    const ids = Array.from({ length: 40 }, (_, index) => `race-${index}`)
    await Promise.all(ids.map((orderId) => w.orders.create({ ...WANTED, orderId, expiresAt: 0 }, 'client')))
    const pays = ids.map((orderId) => w.orders.move(orderId, 'paid', 'client').catch((error: Error) => error))
    await Promise.all([...pays, w.orders.expireDue(20), w.orders.expireDue(20), w.orders.expireDue(40)])
    await w.orders.expireDue(40)
    for (const orderId of ids) {
      const { status } = await w.orders.get(orderId)
      const statuses = (await w.orders.history(orderId)).map(({ to }) => to)
      assert.deepEqual(statuses, ['pending', status])
      assert.equal(
        w.alerts.filter(({ alarmId }) => alarmId.endsWith(`:${orderId}`)).length,
        status === 'expired' ? 1 : 0,
      )
    }
  })

  test('a scan expires the longest overdue orders first, up to its limit', async () => {
    await using w = await orderWorld(dialect)
    for (const [orderId, expiresAt] of [
      ['late', 3],
      ['latest', 1],
      ['later', 2],
    ] as const) {
      await w.orders.create({ ...WANTED, orderId, expiresAt }, 'client')
    }
    assert.deepEqual(await w.orders.expireDue(2), { due: 2, expired: 2 })
    assert.equal((await w.orders.get('late')).status, 'pending')
  })

  test('a scan does not wait for an order that another transaction has locked', async () => {
    await using w = await orderWorld(dialect)
    // SQLite has no row locks: its write transactions run one after the other.
    if (!w.store.capabilities.concurrentWriters) return
    for (const orderId of ['locked', 'free'])
      await w.orders.create({ ...WANTED, orderId, expiresAt: 0 }, 'client')
    await w.store.write(async ({ db }) => {
      await db.selectFrom('orders').select('seq').where('order_id', '=', 'locked').forUpdate().execute()
      assert.deepEqual(await w.orders.expireDue(2), { due: 2, expired: 1 })
    })
    assert.deepEqual(await w.orders.expireDue(2), { due: 1, expired: 1 })
  })

  test('lists are newest first, and their pages neither skip nor repeat orders while new ones are created', async () => {
    await using w = await orderWorld(dialect)
    for (let n = 1; n <= 7; n++) await w.orders.create({ ...WANTED, orderId: `o-${n}` }, 'client')
    const seen: string[] = []
    let after: PagePosition | null = null
    do {
      const page: Page<ListedOrder> = await w.orders.list({}, { limit: 3, after })
      seen.push(...page.items.map(({ orderId }) => orderId))
      await w.orders.create({ ...WANTED, orderId: `new-${seen.length}` }, 'client')
      after = page.next
    } while (after)
    assert.deepEqual(seen, ['o-7', 'o-6', 'o-5', 'o-4', 'o-3', 'o-2', 'o-1'])
  })

  test('lists filter by status and by platform', async () => {
    await using w = await orderWorld(dialect)
    await w.orderIn('paid')
    await w.orderIn('pending')
    await w.orders.create({ ...WANTED, orderId: 'elsewhere', platform: 'shop' }, 'client')
    const ids = async (filter: Parameters<typeof w.orders.list>[0]) =>
      (await w.orders.list(filter, FIRST_PAGE)).items.map(({ orderId }) => orderId)
    assert.deepEqual(await ids({ status: 'pending' }), ['elsewhere', 'in-pending'])
    assert.deepEqual(await ids({ platform: 'shop' }), ['elsewhere'])
    assert.deepEqual(await ids({ status: ['paid', 'pending'] }), ['elsewhere', 'in-pending', 'in-paid'])
    assert.deepEqual(await ids({ status: ['paid', 'expired'], platform: 'shop' }), [])
    assert.deepEqual(await ids({ status: 'paid', platform: 'shop' }), [])
  })

  test('a list can be restricted to orders created in a time range, page by page', async () => {
    await using w = await orderWorld(dialect)
    const start = w.clock.now()
    for (let hour = 0; hour < 10; hour++) {
      await w.orderIn('pending', `hour-${hour}`)
      w.clock.advance(60 * MINUTE)
    }
    const range = { createdFrom: start + 3 * 60 * MINUTE, createdTo: start + 6 * 60 * MINUTE }
    const first = await w.orders.list({}, { ...range, limit: 2 })
    const second = await w.orders.list({ status: 'pending' }, { ...range, limit: 2, after: first.next })
    const ids = [...first.items, ...second.items].map(({ orderId }) => orderId)
    assert.deepEqual([ids, second.next], [['hour-5', 'hour-4', 'hour-3'], null])
  })

  test('lists find orders by the beginning of their id, sorted by bytes, page by page', async () => {
    await using w = await orderWorld(dialect)
    const wanted = ['o-', 'o-1', 'o-1.z', 'o-10', 'o-2', 'o-B', 'o-_', 'o-a', 'o-z']
    for (const orderId of ['O-1', 'o', 'o.1', 'o1', 'p-1', ...wanted.toReversed()])
      await w.orders.create({ ...WANTED, orderId }, 'client')
    await w.orders.move('o-2', 'paid', 'client')
    const pageOf = (filter: object, limit: number, after: PagePosition | null = null) =>
      w.orders.list({ idPrefix: 'o-', ...filter }, { limit, after, order: sortOf({ idPrefix: 'o-' }) })
    const first = await pageOf({}, 4)
    const second = await pageOf({}, 100, first.next)
    const ids = [...first.items, ...second.items].map(({ orderId }) => orderId)
    assert.deepEqual([ids, second.next], [wanted, null])
    const paid = await pageOf({ status: 'paid' }, 100)
    assert.deepEqual(
      paid.items.map(({ orderId }) => orderId),
      ['o-2'],
    )
    assert.deepEqual((await pageOf({ idPrefix: 'é' }, 100)).items, [])
  })

  test('lists find orders by the time at which they ended, the latest first, page by page', async () => {
    await using w = await orderWorld(dialect)
    const start = w.clock.now()
    // The order that was created last ends first.
    for (const orderId of ['e-3', 'c-2', 'e-1', 'open'])
      await w.orders.create({ ...WANTED, orderId }, 'client')
    await w.orders.move('c-2', 'paid', 'client')
    for (const [orderId, status] of [
      ['e-1', 'expired'],
      ['c-2', 'completed'],
      ['e-3', 'expired'],
    ] as const) {
      w.clock.advance(MINUTE)
      await w.orders.move(orderId, status, 'client')
    }
    const idsOf = async (filter: Parameters<typeof w.orders.list>[0]) =>
      (await w.orders.list(filter, { limit: 100, order: sortOf(filter) })).items.map(({ orderId }) => orderId)
    assert.deepEqual(await idsOf({ endedFrom: start }), ['e-3', 'c-2', 'e-1'])
    assert.deepEqual(await idsOf({ endedFrom: start + 2 * MINUTE }), ['e-3', 'c-2'])
    assert.deepEqual(await idsOf({ endedTo: start + 2 * MINUTE }), ['e-1'])
    assert.deepEqual(await idsOf({ endedFrom: start, status: 'expired' }), ['e-3', 'e-1'])
    assert.deepEqual(await idsOf({ endedFrom: start, status: 'completed' }), ['c-2'])
    assert.deepEqual(await idsOf({ endedFrom: start, status: 'paid' }), [])
    assert.deepEqual(await idsOf({ endedFrom: start, idPrefix: 'e-' }), ['e-3', 'e-1'])

    const order = sortOf({ endedFrom: start })
    const first = await w.orders.list({ endedFrom: start }, { limit: 2, order })
    const second = await w.orders.list({ endedFrom: start }, { limit: 2, order, after: first.next })
    assert.deepEqual([second.items.map(({ orderId }) => orderId), second.next], [['e-1'], null])
    await w.service.archiveEnded(0, 10)
    assert.deepEqual(await idsOf({ endedFrom: start, archived: true }), ['e-3', 'c-2', 'e-1'])
  })

  test('lists find orders by their last change, the earliest first; one that changes comes again, and none is skipped', async () => {
    await using w = await orderWorld(dialect)
    const start = w.clock.now()
    for (const orderId of ['a', 'b', 'c', 'd']) {
      await w.orders.create({ ...WANTED, orderId }, 'client')
      w.clock.advance(MINUTE)
    }
    await w.orders.move('a', 'paid', 'client')
    const pageOf = (filter: OrderFilter, limit = 100, after: PagePosition | null = null) =>
      w.orders.list(filter, { limit, after, order: sortOf(filter) })
    const idsOf = async (filter: OrderFilter) => (await pageOf(filter)).items.map(({ orderId }) => orderId)
    const since = { updatedFrom: start }
    assert.deepEqual(await idsOf(since), ['b', 'c', 'd', 'a'])
    assert.deepEqual(await idsOf({ updatedFrom: start + 2 * MINUTE }), ['c', 'd', 'a'])
    assert.deepEqual(await idsOf({ updatedTo: start + 2 * MINUTE }), ['b'])
    assert.deepEqual(await idsOf({ ...since, status: ['paid', 'completed'] }), ['a'])
    const first = await pageOf(since, 2)
    w.clock.advance(MINUTE)
    await w.orders.move('b', 'expired', 'client')
    const second = await pageOf(since, 100, first.next)
    assert.deepEqual(
      second.items.map(({ orderId }) => orderId),
      ['d', 'a', 'b'],
    )
    await w.service.archiveEnded(0, 10)
    assert.deepEqual(await idsOf({ ...since, archived: true }), ['b'])
  })

  test('lists find pending orders by their expiry, the earliest first, page by page', async () => {
    await using w = await orderWorld(dialect)
    const start = w.clock.now()
    for (const [orderId, minutes] of [
      ['in-3', 3],
      ['in-1', 1],
      ['paid-2', 2],
      ['in-2', 2],
      ['also-2', 2],
    ] as const)
      await w.orders.create({ ...WANTED, orderId, expiresAt: start + minutes * MINUTE }, 'client')
    await w.orders.move('paid-2', 'paid', 'client')
    const pageOf = (filter: OrderFilter, limit = 100, after: PagePosition | null = null) =>
      w.orders.list(filter, { limit, after, order: sortOf(filter) })
    const idsOf = async (filter: OrderFilter) => (await pageOf(filter)).items.map(({ orderId }) => orderId)
    assert.deepEqual(await idsOf({ due: true }), ['in-1', 'in-2', 'also-2', 'in-3'])
    assert.deepEqual(await idsOf({ expiresFrom: start + 2 * MINUTE }), ['in-2', 'also-2', 'in-3'])
    assert.deepEqual(await idsOf({ expiresTo: start + 2 * MINUTE }), ['in-1'])
    assert.deepEqual(await idsOf({ due: true, idPrefix: 'in-', platform: WANTED.platform }), [
      'in-1',
      'in-2',
      'in-3',
    ])
    assert.deepEqual(await idsOf({ due: true, status: 'paid' }), [])
    assert.deepEqual(await idsOf({ due: true, archived: true }), [])
    const first = await pageOf({ due: true }, 2)
    const second = await pageOf({ due: true }, 2, first.next)
    assert.deepEqual(
      second.items.map(({ orderId }) => orderId),
      ['also-2', 'in-3'],
    )
  })

  test('orders are counted by status', async () => {
    await using w = await orderWorld(dialect)
    await w.orderIn('paid')
    await w.orderIn('pending')
    await w.orderIn('pending', 'another')
    const counts = new Map((await w.orders.countByStatus()).map(({ status, orders }) => [status, orders]))
    assert.deepEqual([counts.get('paid'), counts.get('pending'), counts.get('expired')], [1, 2, undefined])
  })

  test('archived orders are counted with all orders, and not by the gauge', async () => {
    await using w = await orderWorld(dialect)
    await w.orderIn('expired')
    await w.orderIn('completed')
    await w.orderIn('pending')
    assert.equal(await w.service.archiveEnded(0, 10), 2)
    await w.orderIn('expired', 'another')
    assert.deepEqual(await w.orders.countAll(), { pending: 1, paid: 0, shipped: 0, completed: 1, expired: 2 })
    const counts = new Map((await w.orders.countByStatus()).map(({ status, orders }) => [status, orders]))
    assert.deepEqual([counts.get('completed'), counts.get('expired')], [undefined, 1])
  })

  test('the longest overdue pending order is known, with the time since it was due', async () => {
    await using w = await orderWorld(dialect)
    await w.orderIn('paid')
    await w.orderIn('pending')
    assert.equal(await w.orders.longestOverdueMs(), 0)
    w.clock.advance(EXPIRY_MS + MINUTE)
    await w.orderIn('pending', 'another')
    assert.equal(await w.orders.longestOverdueMs(), MINUTE)
    await w.orders.expireDue(10)
    assert.equal(await w.orders.longestOverdueMs(), 0)
  })
})
