import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overviewOn, overviewWorld } from '../../../test/support/overview.ts'
import { onEveryDialect, repeatingStore } from '../../../test/support/store.ts'
import type { Store } from '../../store/store.ts'
import { DAY, HOUR, MINUTE } from '../../kernel/time.ts'
import { STEP_MS, stepOf } from './model.ts'

const NOTHING = { pending: 0, paid: 0, shipped: 0, completed: 0, expired: 0 }

/** A store with another way to run its long reads. */
function withReadAside(store: Store, run: <R>(read: () => Promise<R>) => Promise<R>): Store {
  return { ...store, readAside: (query) => run(() => store.readAside(query)) }
}

/** A store with another way to run its prepared statements outside of transactions. */
function withRun(store: Store, run: <R>(text: string, read: () => Promise<R>) => Promise<R>): Store {
  const { capabilities, read } = store
  return {
    ...store,
    read: {
      db: read.db,
      capabilities,
      change: (statement, parameters) => read.change(statement, parameters),
      run(statement, parameters) {
        const { text } = statement.bind(capabilities.dialect, read.db, parameters)
        return run(text, () => read.run(statement, parameters))
      },
    },
  }
}

/** Creates an order in a transaction that stays open until `commit`. */
async function openOrder({ store, domains }: Awaited<ReturnType<typeof overviewWorld>>, orderId: string) {
  const [created, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const write = store.write(async (tx) => {
    await domains.orders.service.create(tx, { orderId, platform: 'live', amountCents: 100 }, 'client')
    created.resolve()
    await end.promise
  })
  await created.promise
  return {
    commit() {
      end.resolve()
      return write
    },
  }
}

onEveryDialect('the roll-up', (dialect) => {
  test('orders count at once, before and after the worker has counted their events', async () => {
    await using w = await overviewWorld(dialect)
    assert.deepEqual(await w.rollUp.orders(), NOTHING)
    await w.order('o-1')
    await w.order('o-2', 'paid', 'shipped', 'completed')
    await w.order('o-3', 'paid', 'completed')
    await w.order('o-4', 'expired')
    const counted = { pending: 1, paid: 0, shipped: 0, completed: 2, expired: 1 }
    assert.deepEqual(await w.rollUp.orders(), counted)
    await w.work()
    assert.deepEqual(await w.rollUp.orders(), counted)
    await w.order('o-5', 'paid', 'shipped')
    assert.deepEqual(await w.another.rollUp.orders(), { ...counted, shipped: 1 })
  })

  test('a step has the changes of its five minutes, counted once by two workers and after a restart', async () => {
    await using w = await overviewWorld(dialect)
    const first = stepOf(w.clock.now())
    await w.order('o-1', 'paid')
    await Promise.all([w.work(), w.another.work()])
    w.clock.advance(STEP_MS)
    await w.order('o-2', 'paid')
    const restarted = overviewOn(repeatingStore(w.store), w.clock)
    await Promise.all([restarted.work(), w.another.work(), w.work()])
    const step = {
      created: 1,
      paid: 1,
      shipped: 0,
      completed: 0,
      expired: 0,
      firingAlerts: 0,
      openSessions: 0,
    }
    assert.deepEqual(await w.known(), [
      { at: first, ...step },
      { at: first + STEP_MS, ...step },
    ])
  })

  test('the step in progress has the events that no worker has counted', async () => {
    await using w = await overviewWorld(dialect)
    await w.work()
    await w.order('o-1')
    const [step] = await w.known()
    assert.deepEqual([step?.created, step?.firingAlerts], [1, 0])
  })

  test('the series reads its steps once, while a worker counts further events', async () => {
    await using w = await overviewWorld(dialect)
    await w.order('o-1')
    let readings = 0
    const reader = overviewOn(
      withRun(w.store, async (text, run) => {
        const rows = await run()
        if (/overview_(orders|steps)/.test(text) && readings++ < 20) {
          await w.order(`while-${readings}`)
          await w.another.rollUp.fold()
        }
        return rows
      }),
      w.clock,
    )
    const created = (await reader.rollUp.series(1)).map((step) => step.created)
    assert.deepEqual([readings, created.at(-1)], [1, 2])
  })

  test('a step is sampled once', async () => {
    await using w = await overviewWorld(dialect)
    await w.work()
    const alert = {
      alarmId: 'a',
      source: 's',
      title: 't',
      body: 'b',
      serverAddr: null,
      level: 'HIGH',
    } as const
    await w.store.write((tx) => w.domains.alerts.service.report(tx, alert, 'anna'))
    await w.another.work()
    assert.deepEqual(
      (await w.known()).map((step) => step.firingAlerts),
      [0],
    )
    w.clock.advance(STEP_MS)
    await w.another.work()
    assert.deepEqual(
      (await w.known()).map((step) => step.firingAlerts),
      [0, 1],
    )
  })

  test('a step without a worker has no samples, but its orders are counted later', async () => {
    await using w = await overviewWorld(dialect)
    await w.work()
    w.clock.advance(STEP_MS)
    await w.order('o-1')
    w.clock.advance(2 * STEP_MS)
    await w.work()
    const series = (await w.rollUp.series(1)).slice(-4)
    assert.deepEqual(
      series.map(({ created, firingAlerts }) => [created, firingAlerts]),
      [
        [0, 0],
        [1, null],
        [null, null],
        [0, 0],
      ],
    )
  })

  test('archived orders count in both ways: by their events, and when all orders are counted', async () => {
    await using w = await overviewWorld(dialect)
    await w.order('o-1', 'paid', 'completed')
    await w.order('o-2', 'expired')
    await w.order('o-3')
    assert.equal(await w.domains.orders.service.archiveEnded(0, 10), 2)
    const counted = { ...NOTHING, pending: 1, completed: 1, expired: 1 }
    assert.deepEqual(await w.rollUp.orders(), counted)
    await w.loseEvents()
    assert.deepEqual(await w.rollUp.orders(), counted)
    await w.work()
    assert.deepEqual(await w.rollUp.orders(), counted)
  })

  test('orders are counted anew when events were removed before they were counted', async () => {
    await using w = await overviewWorld(dialect)
    await w.order('o-1', 'paid')
    await w.order('o-2')
    await w.loseEvents()
    const counted = { ...NOTHING, pending: 1, paid: 1 }
    assert.deepEqual(await w.rollUp.orders(), counted)
    await w.work()
    await w.order('o-3')
    await w.work()
    assert.deepEqual(await w.rollUp.orders(), { ...counted, pending: 2 })
  })

  test('a new count is stored although orders change while it runs', async () => {
    await using w = await overviewWorld(dialect)
    await w.order('o-1', 'paid')
    await w.loseEvents()
    let counts = 0
    const counting = overviewOn(
      withReadAside(w.store, async (read) => {
        counts++
        await w.order('seen', 'paid')
        const rows = await read()
        await w.move('seen', 'shipped')
        await w.order('unseen')
        return rows
      }),
      w.clock,
    )
    await counting.work()
    assert.equal(counts, 1)
    assert.deepEqual(await counting.rollUp.orders(), { ...NOTHING, pending: 1, paid: 1, shipped: 1 })
    assert.equal(counts, 1, 'a reader counts all orders again')
    const steps = (await w.known()).map(({ created, paid, shipped }) => [created, paid, shipped])
    assert.deepEqual(steps, [[2, 1, 1]])
  })

  test('a new count has no order whose transaction is open, although a later event is visible', async () => {
    await using w = await overviewWorld(dialect)
    if (!w.store.capabilities.concurrentWriters) return
    await w.order('o-1', 'paid')
    await w.loseEvents()
    const counting = overviewOn(
      withReadAside(w.store, async (read) => {
        const open = await openOrder(w, 'open')
        await w.order('later')
        const rows = await read()
        await open.commit()
        return rows
      }),
      w.clock,
    )
    await counting.work()
    assert.deepEqual(await counting.rollUp.orders(), { ...NOTHING, pending: 2, paid: 1 })
  })

  test('steps are removed in batches after 31 days', async () => {
    await using w = await overviewWorld(dialect)
    await w.work()
    w.clock.advance(31 * DAY)
    for (let step = 0; step <= 12; step++) {
      w.clock.advance(STEP_MS)
      await w.work()
    }
    assert.equal(await w.rollUp.prune(1), 1)
    assert.equal(await w.rollUp.prune(1), 0)
    assert.equal((await w.known(2)).length, 13)
  })

  test('a clock that jumps ahead and back removes no old step, and leaves no later one', async () => {
    await using w = await overviewWorld(dialect)
    for (let step = 0; step < 13; step++) {
      w.clock.advance(STEP_MS)
      await w.work()
    }
    const jump = 40 * DAY
    w.clock.jump(jump)
    await w.work()
    assert.equal(await w.rollUp.prune(500), 0)
    w.clock.jump(-jump)
    for (let step = 0; step < 12; step++) {
      w.clock.advance(STEP_MS)
      await w.work()
    }
    w.clock.jump(jump - 12 * STEP_MS)
    assert.equal((await w.known()).length, 0)
    w.clock.jump(12 * STEP_MS - jump)
    assert.equal((await w.known(3)).length, 25)
  })

  test('a clock that is wrong for less than an hour costs no other step', async () => {
    await using w = await overviewWorld(dialect)
    for (let step = 0; step < 20; step++) {
      w.clock.advance(STEP_MS)
      await w.work()
    }
    for (const jump of [-40 * DAY, -2 * HOUR, 8 * HOUR]) {
      w.clock.jump(jump)
      await w.work()
      await w.rollUp.prune(500)
      w.clock.jump(-jump)
    }
    assert.equal((await w.known(2)).length, 20)
  })

  test('a clock that is set back writes no step again', async () => {
    await using w = await overviewWorld(dialect)
    await w.order('o-1')
    await w.work()
    w.clock.advance(STEP_MS)
    await w.work()
    w.clock.jump(-MINUTE - (w.clock.now() % STEP_MS))
    await w.work()
    w.clock.jump(HOUR / 2)
    assert.deepEqual(
      (await w.known()).map((step) => step.created),
      [1, 0],
    )
  })
})
