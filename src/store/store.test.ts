import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { onEveryDialect, testStore } from '../../test/support/store.ts'
import { systemClock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { silentLogger, type LogFields } from '../kernel/logger.ts'
import { readOnly } from './open.ts'
import type { Queries, Store, Tx } from './store.ts'
import { changeRows } from './tables.ts'

const put = changeRows((db, name: string, at: number) =>
  db.insertInto('leases').values({ name, holder: 'me', expires_at: at }),
)

const names = async ({ db }: Queries): Promise<string[]> => {
  const rows = await db.selectFrom('leases').select('name').orderBy('name').execute()
  return rows.map(({ name }) => name)
}

const putting = (name: string) => (tx: Tx) => put(tx, name, 1)

onEveryDialect('the store', (dialect) => {
  test('a write resolves with the result of its callback, and can be read then', async () => {
    await using world = await testStore(dialect)
    const answer = await world.store.write(async (tx) => {
      await put(tx, 'a', 2 ** 53 - 1)
      return 'done'
    })
    assert.equal(answer, 'done')
    const rows = await world.store.read.db.selectFrom('leases').selectAll().execute()
    assert.deepEqual({ ...rows[0] }, { name: 'a', holder: 'me', expires_at: 2 ** 53 - 1 })
  })

  test('a write that fails changes nothing, and the writes beside it are kept', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    const failing = store.write(async (tx) => {
      await putting('lost')(tx)
      throw new AppError('conflict', 'no', 'No.')
    })
    const outcomes = await Promise.allSettled([store.write(putting('a')), failing, store.write(putting('b'))])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    await assert.rejects(failing, { code: 'no' })
    assert.deepEqual(await names(store.read), ['a', 'b'])
  })

  test('a reader does not see an open transaction', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    await store.write(async (tx) => {
      await putting('a')(tx)
      assert.deepEqual(await names(tx), ['a'])
      assert.deepEqual(await names(store.read), [])
    })
    assert.deepEqual(await names(store.read), ['a'])
  })

  test('a listener is called once after a commit, and never after a rollback', async () => {
    await using world = await testStore(dialect)
    const calls: string[] = []
    await world.store.write(async (tx) => {
      tx.afterCommit(() => calls.push('kept'))
      await putting('a')(tx)
      assert.deepEqual(calls, [])
    })
    await assert.rejects(
      world.store.write(async (tx) => {
        tx.afterCommit(() => calls.push('lost'))
        await putting('a')(tx)
      }),
    )
    assert.deepEqual(calls, ['kept'])
  })

  test('a listener that throws is logged, and neither its write nor others are affected', async () => {
    const errors: unknown[] = []
    const logger = { ...silentLogger, error: ({ error }: LogFields) => void errors.push(error) }
    await using world = await testStore(dialect, systemClock, {}, logger)
    const { store } = world
    const failure = new Error('a mistake in the listener')
    const calls: string[] = []
    const first = store.write(async (tx) => {
      tx.afterCommit(() => {
        throw failure
      })
      tx.afterCommit(() => calls.push('next listener'))
      await putting('a')(tx)
    })
    await Promise.all([first, store.write(putting('b'))])
    await store.write(putting('c'))
    assert.deepEqual(await names(store.read), ['a', 'b', 'c'])
    assert.deepEqual([errors, calls], [[failure], ['next listener']])
  })

  test('no increment of many concurrent writers is lost', async () => {
    await using world = await testStore(dialect)
    const { store } = world
    await store.write((tx) => put(tx, 'count', 0))
    const increment = () =>
      store.write(({ db }) =>
        db
          .updateTable('leases')
          .set((row) => ({ expires_at: row('expires_at', '+', 1) }))
          .where('name', '=', 'count')
          .execute(),
      )
    await Promise.all(Array.from({ length: 200 }, increment))
    const row = await store.read.db.selectFrom('leases').select('expires_at').executeTakeFirstOrThrow()
    assert.equal(row.expires_at, 200)
  })

  test('a prepared statement takes new values each time', async () => {
    await using world = await testStore(dialect)
    await world.store.write(async (tx) => {
      for (const name of ['a', "b'; drop table leases --", 'c']) await putting(name)(tx)
    })
    assert.deepEqual(await names(world.store.read), ['a', "b'; drop table leases --", 'c'])
  })

  test('a long read runs off the event loop', async () => {
    await using world = await testStore(dialect)
    await world.store.write(putting('a'))
    const rows = await world.store.readAside(
      world.store.read.db.selectFrom('leases').select((row) => row.fn.countAll<number>().as('count')),
    )
    assert.equal(rows[0]?.count, 1)
  })

  test('a transaction that hangs is undone, and other writes go on after its time limit', async () => {
    await using world = await testStore(dialect, systemClock, { transactionMs: 200, idleMs: 200 })
    const { store } = world
    const resume = Promise.withResolvers<void>()
    const late = Promise.withResolvers<unknown>()
    const hanging = store.write(async (tx) => {
      await putting('hanging')(tx)
      await resume.promise
      await putting('late')(tx).then(late.resolve, late.reject)
    })
    const failed = assert.rejects(hanging, { code: 'store_unavailable', message: /200 ms/ })
    await store.write(putting('behind'))
    await failed
    resume.resolve()
    await assert.rejects(late.promise, 'its later statements are rejected')
    assert.deepEqual(await names(store.read), ['behind'])
  })

  const LATE_STATEMENTS: Record<string, (tx: Tx) => Promise<unknown>> = {
    'a prepared statement': putting('late'),
    'a query of the builder': ({ db }) =>
      db.insertInto('leases').values({ name: 'late', holder: 'me', expires_at: 1 }).execute(),
  }
  for (const [kind, run] of Object.entries(LATE_STATEMENTS)) {
    test(`${kind} after the end of its transaction is rejected`, async () => {
      await using world = await testStore(dialect)
      const { store } = world
      const ended = await store.write(async (tx) => (await putting('a')(tx), tx))
      await assert.rejects(run(ended), /The transaction has ended/)
      assert.deepEqual(await names(store.read), ['a'])
    })

    test(`${kind} of an ended transaction is rejected during another one`, async () => {
      await using world = await testStore(dialect)
      const { store } = world
      const ended = await store.write(async (tx) => tx)
      await store.write(async (tx) => {
        await assert.rejects(run(ended), /The transaction has ended/)
        await putting('b')(tx)
      })
      assert.deepEqual(await names(store.read), ['b'])
    })
  }

  test('a long-running transaction has no time limit', async () => {
    await using world = await testStore(dialect, systemClock, { transactionMs: 50, idleMs: 50 })
    const slowly = (tx: Tx) => pause(150).then(() => putting('a')(tx))
    await world.store.write(slowly, { longRunning: true })
    assert.deepEqual(await names(world.store.read), ['a'])
  })

  test('closing waits for the pending writes, and may be repeated', async () => {
    const world = await testStore(dialect)
    const writes = Promise.all([world.store.write(putting('a')), world.store.write(putting('b'))])
    await Promise.all([world.store.close(), world.store.close(), writes])
    await world[Symbol.asyncDispose]()
  })

  test('a read-only store refuses to write and goes on reading', async () => {
    await using world = await testStore(dialect)
    await world.store.write(putting('a'))
    const store: Store = readOnly(world.store)
    await assert.rejects(store.write(putting('b')), { code: 'read_only' })
    assert.deepEqual(await names(store.read), ['a'])
  })

  test('a store that answers passes its check', async () => {
    await using world = await testStore(dialect)
    await world.store.check()
  })
})
