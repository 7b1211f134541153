import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { eventually } from '../../../test/support/eventually.ts'
import { testStore } from '../../../test/support/store.ts'
import { createTestDatabase } from '../../../test/support/postgres.ts'
import { systemClock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { Secret } from '../../kernel/secret.ts'
import { openStore } from '../open.ts'
import { touchedRow } from '../locking.ts'
import type { Queries, Tx } from '../store.ts'
import { changeRows, readRow, readRows } from '../tables.ts'

test('a connection that the server ends between two queries fails its transaction and nothing else', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  const write = store.write(async ({ db }) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
    await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(store.read.db)
    await eventually('the connection to be gone', async () => {
      const { rows: left } = await sql`select 1 from pg_stat_activity where pid = ${rows[0]?.pid}`.execute(
        store.read.db,
      )
      return left.length === 0
    })
    await sql`select 1`.execute(db)
  })
  await assert.rejects(write, { code: 'store_unavailable' })
  await store.check()
})

const put = changeRows((db, name: string) =>
  db.insertInto('leases').values({ name, holder: 'me', expires_at: 1 }),
)
const find = readRows((db, name: string) => db.selectFrom('leases').selectAll().where('name', '=', name))
const sleep = (tx: Tx, milliseconds: number) => sql`select pg_sleep(${milliseconds / 1_000})`.execute(tx.db)
const names = async ({ db }: Queries) =>
  (await db.selectFrom('leases').select('name').orderBy('name').execute()).map(({ name }) => name)

test('a transaction that takes too long commits none of its statements, and no later statement either', async () => {
  await using world = await testStore('postgres', systemClock, { transactionMs: 1_000 })
  const { store } = world
  const ended = Promise.withResolvers<unknown>()
  const write = store.write(async (tx) => {
    try {
      for (let round = 0; ; round++) {
        await put(tx, `round ${round}`)
        await sleep(tx, 300)
      }
    } catch (error) {
      ended.resolve(error)
      await tx.db.insertInto('leases').values({ name: 'late', holder: 'me', expires_at: 1 }).execute()
    }
  })
  await assert.rejects(write, { code: 'store_unavailable', message: /1000 ms/ })
  const error = await ended.promise
  await store.write((tx) => put(tx, 'next'))
  assert.deepEqual(await names(store.read), ['next'])
  assert.ok(error instanceof AppError)
})

test('a transaction that makes progress may take longer than it may be idle', async () => {
  await using world = await testStore('postgres', systemClock, { idleMs: 150 })
  const { store } = world
  await store.write(async (tx) => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await sleep(tx, 60)
      await put(tx, name)
    }
  })
  assert.deepEqual(await names(store.read), ['a', 'b', 'c', 'd', 'e', 'f'])
})

test('one statement may take longer than a transaction may be idle', async () => {
  await using world = await testStore('postgres', systemClock, { idleMs: 50 })
  await world.store.write(async (tx) => {
    await sleep(tx, 200)
    await put(tx, 'a')
  })
  assert.deepEqual(await names(world.store.read), ['a'])
})

test('a transaction whose statement has failed is not reported as committed', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  const write = store.write(async (tx) => {
    await put(tx, 'a')
    await sql`select 1 / 0`.execute(tx.db).catch(() => undefined)
  })
  await assert.rejects(write, /was rolled back/)
  assert.deepEqual(await names(store.read), [])
})

test('a standby refuses a change as an unavailable store', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  const write = store.write(async (tx) => {
    await sql`set transaction read only`.execute(tx.db)
    await put(tx, 'a')
  })
  await assert.rejects(write, { code: 'store_unavailable' })
})

test('the check of a database fails and names the encoding when that is not UTF8', async () => {
  const { url, drop } = await createTestDatabase({ encoding: 'LATIN1' })
  const database = { kind: 'postgres', url: new Secret(url) } as const
  const store = await openStore({ database, clock: systemClock, metrics: noMetrics, logger: silentLogger })
  try {
    await assert.rejects(store.check(), ({ cause }: Error) =>
      /encoding is LATIN1, it must be UTF8/.test(String(cause)),
    )
  } finally {
    await store.close()
    await drop()
  }
})

test('the server ends a transaction that is idle for 10 s', async () => {
  await using world = await testStore('postgres')
  const { rows } = await sql<{ idle: string }>`
    select current_setting('idle_in_transaction_session_timeout') as idle`.execute(world.store.read.db)
  assert.equal(rows[0]?.idle, '10s')
})

test('a statement is parsed once per connection', async () => {
  await using world = await testStore('postgres')
  const counted = await world.store.write(async (tx) => {
    for (const name of ['a', 'b', 'c']) await put(tx, name)
    for (const name of ['a', 'b']) await find(tx, name)
    const { rows } = await sql<{ text: string; calls: number }>`
      select statement as text, (generic_plans + custom_plans)::int4 as calls from pg_prepared_statements`.execute(
      tx.db,
    )
    return rows.map(({ text, calls }) => [text.split(' ')[0], calls])
  })
  assert.deepEqual(Object.fromEntries(counted), { insert: 3, select: 2 })
})

for (const touches of [undefined, [touchedRow('leases', 'a')]]) {
  test(`a process goes on after another release has added a column, ${touches ? 'in groups' : 'alone'}`, async () => {
    await using world = await testStore('postgres')
    const { store } = world
    for (const [round, name] of ['a', 'b', 'c'].entries()) {
      const write = async (tx: Tx) => {
        await put(tx, name)
        return find(tx, name)
      }
      const rows = await store.write(write, touches && { touches })
      assert.equal(rows[0]?.holder, 'me')
      await sql.raw(`alter table leases add column added_${round} text`).execute(store.read.db)
    }
  })
}

test('a transaction with many stale plans is repeated once', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  const finds = Array.from({ length: 12 }, (_, number) =>
    readRow((db, name: string) =>
      db
        .selectFrom('leases')
        .selectAll()
        .where('name', '=', name)
        .limit(sql.lit(number + 1)),
    ),
  )
  let runs = 0
  const write = async (tx: Tx) => {
    runs++
    for (const find of finds) await find(tx, 'a')
  }
  await store.write(write)
  await sql`alter table leases add column added text`.execute(store.read.db)
  await store.write(write)
  assert.equal(runs, 3)
})
