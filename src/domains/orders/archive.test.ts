import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEveryDialect } from '../../../test/support/store.ts'
import { DAY } from '../../kernel/time.ts'
import { orderArchiveJob } from './jobs.ts'
import { db, orders } from './tables.ts'
import { orderWorld, WANTED } from '../../../test/support/orders.ts'

const FIRST_PAGE = { limit: 1_000 }
const NEVER = new AbortController().signal

onEveryDialect('the archive of orders', (dialect) => {
  test('takes the orders that ended long ago, with their history, and no others', async () => {
    await using w = await orderWorld(dialect)
    const completed = await w.orderIn('completed')
    const expired = await w.orderIn('expired')
    const history = await w.orders.history(completed.orderId)
    const paid = await w.orderIn('paid')
    w.clock.advance(30 * DAY)
    const recent = await w.orderIn('completed', 'recent')
    const newest = await w.orderIn('pending', 'newest')

    await orderArchiveJob(w.service, 30 * DAY).run(NEVER)

    const ids = async (filter: object) =>
      (await w.orders.list(filter, FIRST_PAGE)).items.map(({ orderId }) => orderId)
    assert.deepEqual(await ids({}), [newest.orderId, recent.orderId, paid.orderId])
    assert.deepEqual(await ids({ archived: true }), [expired.orderId, completed.orderId])
    assert.deepEqual(await ids({ archived: true, status: 'expired' }), [expired.orderId])
    assert.deepEqual(await w.orders.get(completed.orderId), completed)
    assert.deepEqual(await w.orders.history(completed.orderId), history)
  })

  test('keeps its ids: the same order is returned, another one and every move are refused', async () => {
    await using w = await orderWorld(dialect)
    const order = await w.orderIn('expired', WANTED.orderId)
    await w.orderIn('pending', 'newest')
    assert.equal(await w.service.archiveEnded(0, 10), 1)

    assert.deepEqual(await w.orders.create(WANTED, 'client'), { order, outcome: 'unchanged' })
    await assert.rejects(w.orders.create({ ...WANTED, amountCents: 1 }, 'client'), { code: 'order_exists' })
    assert.deepEqual(await w.orders.move(order.orderId, 'expired', 'client'), order)
    await assert.rejects(w.orders.move(order.orderId, 'paid', 'client'), { code: 'invalid_transition' })
  })

  test('leaves an order whose id is in the archive, and takes those behind it', async () => {
    await using w = await orderWorld(dialect)
    await w.orderIn('expired', 'twin')
    await w.orderIn('pending', 'newest')
    assert.equal(await w.service.archiveEnded(0, 10), 1)
    // PostgreSQL allows this at the moment at which the first one is moved.
    await w.store.write(async (tx) => {
      const columns = orders.names.filter((name) => name !== 'seq')
      const twin = db(tx).selectFrom('archived_orders').select(columns)
      await db(tx).insertInto('orders').columns(columns).expression(twin).execute()
    })
    w.clock.advance(DAY)
    await w.orderIn('expired', 'behind')
    await w.orderIn('pending', 'newer')
    assert.equal(await w.service.archiveEnded(0, 1), 1)
    assert.equal(await w.service.archiveEnded(0, 1), 0)
  })

  test('never takes the newest order, whose number would be given again', async () => {
    await using w = await orderWorld(dialect)
    await w.orderIn('expired')
    w.clock.advance(DAY)
    assert.equal(await w.service.archiveEnded(0, 10), 0)
  })

  test('takes every order once when several workers move batches at the same time', async () => {
    await using w = await orderWorld(dialect)
    const count = 12
    for (let number = 0; number < count; number++) await w.orderIn('expired', `o-${number}`)
    await w.orderIn('pending', 'newest')
    w.clock.advance(DAY)
    const moved = await Promise.all([1, 2, 3].map(() => w.service.archiveEnded(0, count)))
    assert.equal(
      moved.reduce((sum, each) => sum + each),
      count,
    )
    assert.equal((await w.orders.list({ archived: true }, FIRST_PAGE)).items.length, count)
  })
})
