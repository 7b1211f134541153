import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { fakeClock } from '../../test/support/clock.ts'
import { eventually } from '../../test/support/eventually.ts'
import { onEveryDialect, testStore } from '../../test/support/store.ts'
import { systemClock, type Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { silentLogger, type Logger } from '../kernel/logger.ts'
import { noMetrics, type Metrics } from '../kernel/metrics.ts'
import { monitorStore } from './monitor.ts'
import { isCheckDue } from './work/marks.ts'
import type { Store, Tx } from './store.ts'
import { storeUnavailable } from './unavailable.ts'

const REFUSAL = new AppError('unavailable', 'store_unavailable', 'The disk is full.')

const CHANGE = async () => undefined

/** The store with a switch that makes it refuse changes; its log and its metrics. */
function breakable(store: Store, clock: Clock = systemClock) {
  const lines: string[] = []
  const fields: object[] = []
  const log: Logger['info'] = (each, message) => void (fields.push(each), lines.push(message))
  const logger: Logger = { ...silentLogger, info: log, warn: log, error: log }
  // Every write of the monitor itself is a large one.
  const state = { refuses: false, refusesLarge: false, refusal: REFUSAL, writes: 0, changes: 0 }
  const write: Store['write'] = async (work, options) => {
    state.writes++
    const isLarge = state.changes === 0
    if (!isLarge) state.changes--
    if (state.refuses || (state.refusesLarge && isLarge)) throw state.refusal
    return store.write(work, options)
  }
  const { metrics, values, scrape } = recordedMetrics()
  const checked = monitorStore({ ...store, write }, { clock, logger, metrics, checkMs: 10_000 })
  const change = () => {
    state.changes++
    return checked.write(CHANGE)
  }
  return { checked, state, lines, fields, values, scrape, change }
}

function recordedMetrics() {
  const values: Record<string, number> = {}
  const hooks: (() => void | Promise<void>)[] = []
  const metrics: Metrics = {
    ...noMetrics,
    gauge: ({ name }) => ({
      set: (value) => void (values[name] = value),
      clear: () => void delete values[name],
    }),
    counter: () => ({
      increment: (labels, by = 1) => {
        const outcome = labels?.['outcome'] ?? ''
        values[outcome] = (values[outcome] ?? 0) + by
      },
    }),
    onScrape: (collect) => void hooks.push(collect),
  }
  return { metrics, values, scrape: () => Promise.all(hooks.map(async (hook) => hook())) }
}

onEveryDialect('the monitor of a store', (dialect) => {
  test('the check writes a probe after the first write and after a refused one, and else nothing', async () => {
    await using world = await testStore(dialect)
    const { checked, state, change } = breakable(world.store)
    await checked.check()
    assert.equal(state.writes, 0, 'nothing was written')
    await change()
    await checked.check()
    await checked.check()
    assert.equal(state.writes, 2)
    state.refuses = true
    await assert.rejects(change(), REFUSAL)
    await assert.rejects(checked.check(), REFUSAL)
    state.refuses = false
    await checked.check()
    await checked.check()
    assert.equal(state.writes, 5)
  })

  test('the probe takes as much space in the database as a change may need', async () => {
    await using world = await testStore(dialect)
    const { checked, state, change } = breakable(world.store)
    state.refuses = true
    await assert.rejects(change(), REFUSAL)
    state.refuses = false
    await checked.check()
    const size = sql<number>`${sql.raw(dialect === 'postgres' ? 'pg_column_size' : 'length')}(holder)`
    const { bytes } = await world.store.read.db
      .selectFrom('leases')
      .select(size.as('bytes'))
      .where('name', '=', 'store-check')
      .executeTakeFirstOrThrow()
    assert.ok(Number(bytes) >= 64 * 1_024, `${bytes} bytes`)
  })

  test('a process that starts on a full disk does not pass its first check', async () => {
    await using world = await testStore(dialect)
    const { checked, state, change, lines } = breakable(world.store)
    await change()
    state.refusesLarge = true
    await assert.rejects(checked.check(), REFUSAL)
    await change()
    await assert.rejects(checked.check(), REFUSAL)
    assert.equal(lines.length, 1)
  })

  test('an outage has one log line at its start and one at its end', async () => {
    await using world = await testStore(dialect)
    const clock = fakeClock()
    const { state, lines, change } = breakable(world.store, clock)
    await change()
    state.refuses = true
    for (let times = 0; times < 3; times++) await assert.rejects(change(), REFUSAL)
    state.refuses = false
    state.refusesLarge = true
    for (let times = 0; times < 3; times++) {
      await change()
      clock.advance(1_000)
    }
    assert.equal(lines.length, 1, 'a small change that fits is no end')
    state.refusesLarge = false
    await change()
    await eventually('the end of the outage', () => lines.length === 2)
    assert.deepEqual(lines, [
      'the database is unavailable; changes are answered 503 until it works again',
      'the database is available again',
    ])
  })

  test('an outage that lasts is one error, and its end says how long it was', async () => {
    await using world = await testStore(dialect)
    const clock = fakeClock()
    const { checked, state, lines, fields, change } = breakable(world.store, clock)
    state.refuses = true
    assert.equal(checked.isOut(), false)
    for (const pauseMs of [59_000, 1_000, 30_000, 30_000]) {
      await assert.rejects(change(), REFUSAL)
      clock.advance(pauseMs)
    }
    assert.equal(checked.isOut(), true)
    state.refuses = false
    await checked.check()
    assert.deepEqual(lines, [
      'the database is unavailable; changes are answered 503 until it works again',
      'the database is still unavailable: "platform doctor" says why, and what to do',
      'the database is available again',
    ])
    assert.deepEqual(
      fields.map((each) => ('seconds' in each ? each.seconds : undefined)),
      [undefined, 60, 120],
    )
    assert.equal(checked.isOut(), false)
  })

  test('an error of a transaction is no outage', async () => {
    await using world = await testStore(dialect)
    const { checked, lines } = breakable(world.store)
    const conflict = new AppError('conflict', 'order_exists', 'There is one already.')
    await assert.rejects(
      checked.write(async () => {
        throw conflict
      }),
      conflict,
    )
    assert.deepEqual(lines, [])
  })

  test('a transaction that takes too long is no outage', async () => {
    await using world = await testStore(dialect, systemClock, { transactionMs: 100, idleMs: 100 })
    const { checked, lines, values } = breakable(world.store)
    await assert.rejects(
      checked.write(() => new Promise(() => {})),
      { code: 'store_unavailable' },
    )
    assert.deepEqual([lines, values], [[], { committed: 0, rolled_back: 0, timed_out: 1, unavailable: 0 }])
  })

  test('the outcomes of transactions are counted, each from 0', async () => {
    await using world = await testStore(dialect)
    const { checked, state, values, change } = breakable(world.store)
    assert.deepEqual(values, { committed: 0, rolled_back: 0, timed_out: 0, unavailable: 0 })
    await change()
    await assert.rejects(checked.write(() => Promise.reject(new Error('no'))))
    state.refuses = true
    await assert.rejects(change())
    assert.deepEqual(values, {
      store_up: 0,
      committed: 1,
      rolled_back: 1,
      timed_out: 0,
      unavailable: 1,
    })
  })

  test('a scrape shows whether the database works, without asking it each time', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect)
    const { state, values, scrape, change } = breakable(world.store, clock)
    await scrape()
    assert.equal(values['store_up'], 1)
    state.refuses = true
    await assert.rejects(change(), REFUSAL)
    state.refuses = false
    await scrape()
    assert.equal(values['store_up'], 0, 'the refusal is new')
    clock.advance(1_000)
    await scrape()
    assert.equal(values['store_up'], 1)
  })
})

test('a damaged page is one error and no outage, and has the file checked', async () => {
  await using world = await testStore('sqlite')
  const { state, lines, change } = breakable(world.store)
  const damage = Object.assign(new Error('database disk image is malformed'), { errcode: 11 })
  state.refusal = storeUnavailable(damage)
  await change()
  assert.equal(await isCheckDue(world.store.read), false)
  state.refuses = true
  for (let times = 0; times < 2; times++) await assert.rejects(change(), state.refusal)
  state.refuses = false
  await change()
  assert.deepEqual(lines, ['the database file is damaged; "platform doctor" says what to do'])
  await eventually('the request of a check', () => isCheckDue(world.store.read))
})

test('the check fails while a disk has room for a page but not for an order', async () => {
  await using world = await testStore('sqlite')
  const { checked } = breakable(world.store)
  const limitPages = (more: number) =>
    world.store.write(async ({ db }) => {
      const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db)
      await sql.raw(`pragma max_page_count = ${(rows[0]?.page_count ?? 0) + more}`).execute(db)
    })
  const order = () =>
    checked.write(({ db }) =>
      db
        .insertInto('leases')
        .values({ name: 'order', holder: 'x'.repeat(64 * 1_024), expires_at: 0 })
        .execute(),
    )
  await limitPages(2)
  await assert.rejects(order(), { code: 'store_unavailable' })
  await assert.rejects(checked.check(), { code: 'store_unavailable' })
  await limitPages(100)
  await checked.check()
})

test('a transaction of postgres that waits too long for a row is no outage', async () => {
  await using world = await testStore('postgres')
  const { checked, lines, values } = breakable(world.store)
  const lock = ({ db }: Tx) => sql`lock table leases`.execute(db)
  await world.store.write(async (tx) => {
    await lock(tx)
    const waiting = checked.write(async (other) => {
      await sql`set local lock_timeout = 50`.execute(other.db)
      await lock(other)
    })
    await assert.rejects(waiting, { code: 'store_unavailable' })
  })
  assert.deepEqual([lines, values], [[], { committed: 0, rolled_back: 0, timed_out: 1, unavailable: 0 }])
})
