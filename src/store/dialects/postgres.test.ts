import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { eventually } from '../../../test/support/eventually.ts'
import { testStore } from '../../../test/support/store.ts'

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
