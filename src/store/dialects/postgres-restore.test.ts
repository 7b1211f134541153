import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { createTestDatabase } from '../../../test/support/postgres.ts'
import { scopeOf } from '../../../test/support/scope.ts'
import { testStore } from '../../../test/support/store.ts'
import { Secret } from '../../kernel/secret.ts'
import { restoreTarget } from '../open.ts'

test('a database that is opened after the first check is not replaced', async (t) => {
  const { url, drop } = await createTestDatabase()
  const server = new Client({ connectionString: url, application_name: 'platform' })
  t.after(async () => {
    await server.end()
    await drop()
  })
  const target = await restoreTarget({ kind: 'postgres', url: new Secret(url) })
  await target.requireUnserved()
  await server.connect()
  await server.query('create table things (id integer)')
  const snapshot = { path: 'snapshot.dump', sha256: '', finish: async () => {} }
  const replaced = target.replace(snapshot, '20260131T020000Z')
  await assert.rejects(replaced, { code: 'database_in_use' })
  const { rows } = await server.query("select to_regclass('public.things') as name")
  assert.deepEqual(rows, [{ name: 'things' }])
})

test('a restored database that cannot be finished is removed, and the former one is back', async (t) => {
  const { path: directory } = scopeOf(t).use(temporaryDirectory())
  await using world = await testStore('postgres')
  const { store, address } = world
  assert.ok(address.kind === 'postgres')
  const path = join(directory, 'snapshot.dump')
  await store.snapshot(path)
  await sql`create table things (id integer)`.execute(store.read.db)
  await store.close()
  const finish = async () => Promise.reject(new Error('not finished'))
  const target = await restoreTarget(address)
  await assert.rejects(target.replace({ path, sha256: '', finish }, '20260131T020000Z'), /not finished/)
  const client = new Client({ connectionString: address.url.reveal() })
  await client.connect()
  const { rows } = await client.query(
    "select to_regclass('public.things') as things, to_regnamespace('before_restore_20260131t020000z') as aside",
  )
  await client.end()
  assert.deepEqual(rows, [{ things: 'things', aside: null }])
})

test('a view of somebody else among the tables is named with what to do', async (t) => {
  const { path: directory } = scopeOf(t).use(temporaryDirectory())
  await using world = await testStore('postgres')
  const { store, address } = world
  assert.ok(address.kind === 'postgres')
  await sql`create view by_day as select 1 as orders`.execute(store.read.db)
  const path = join(directory, 'snapshot.dump')
  await store.snapshot(path)
  await store.close()
  const replaced = (await restoreTarget(address)).replace(
    { path, sha256: '', finish: async () => {} },
    '20260131T020000Z',
  )
  const message = /"by_day" already exists.* The database is as it was\. .*drop it/s
  await assert.rejects(replaced, { code: 'restore_refused', message })
})

test('a schema of somebody else in the database is left as it is by a restoration', async (t) => {
  const { path: directory } = scopeOf(t).use(temporaryDirectory())
  await using world = await testStore('postgres')
  const { store, address } = world
  assert.ok(address.kind === 'postgres')
  await sql`create schema reporting`.execute(store.read.db)
  await sql`create table reporting.days as select 1 as orders`.execute(store.read.db)
  const path = join(directory, 'snapshot.dump')
  await store.snapshot(path)
  await sql`insert into reporting.days values (2)`.execute(store.read.db)
  await sql`create table things (id integer)`.execute(store.read.db)
  await store.close()
  const target = await restoreTarget(address)
  const { former } = await target.replace({ path, sha256: '', finish: async () => {} }, '20260131T020000Z')
  assert.equal(former, 'the schema before_restore_20260131t020000z')
  const client = new Client({ connectionString: address.url.reveal() })
  await client.connect()
  const { rows } = await client.query(`select to_regclass('public.schema_migrations') as restored,
    to_regclass('public.things') as things, (select sum(orders) from reporting.days) as orders`)
  await client.end()
  assert.deepEqual(rows, [{ restored: 'schema_migrations', things: null, orders: '3' }])
})
