import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { eventually } from '../../../test/support/eventually.ts'
import { testStore } from '../../../test/support/store.ts'
import { statement } from '../statement.ts'

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

test('a transaction whose process stands still gives its locks back after as long as a lease lasts', async () => {
  await using world = await testStore('postgres')
  const { rows } = await sql<{ idle: string }>`
    select current_setting('idle_in_transaction_session_timeout') as idle`.execute(world.store.read.db)
  assert.equal(rows[0]?.idle, '10s')
})

const put = statement<{ name: string }>((db, value) =>
  db.insertInto('leases').values({ name: value('name'), holder: 'me', expires_at: 1 }),
)
const find = statement<{ name: string }, { name: string; holder: string }>((db, value) =>
  db.selectFrom('leases').selectAll().where('name', '=', value('name')),
)

test('a statement that returns nothing is parsed once for each connection', async () => {
  await using world = await testStore('postgres')
  const counted = await world.store.write(async (tx) => {
    for (const name of ['a', 'b', 'c']) await tx.change(put, { name })
    await tx.run(find, { name: 'a' })
    const { rows } = await sql<{ text: string; calls: number }>`
      select statement as text, (generic_plans + custom_plans)::int4 as calls from pg_prepared_statements`.execute(
      tx.db,
    )
    return rows.map(({ text, calls }) => [text.slice(0, 11), calls])
  })
  assert.deepEqual(counted, [['insert into', 3]])
})

test('a process goes on after another release has added a column', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  for (const [round, name] of ['a', 'b', 'c'].entries()) {
    await store.write(async (tx) => {
      await tx.change(put, { name })
      assert.equal((await tx.run(find, { name }))[0]?.holder, 'me')
    })
    await sql.raw(`alter table leases add column added_${round} text`).execute(store.read.db)
  }
})
