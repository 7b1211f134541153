import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { eventually } from '../../test/support/eventually.ts'
import { onEveryDialect, testStore } from '../../test/support/store.ts'
import type { Queries, Store, Tx } from './store.ts'
import { changeRows, readRows } from './tables.ts'

const put = changeRows((db, name: string) =>
  db.insertInto('leases').values({ name, holder: 'me', expires_at: 1 }),
)

const lockable = (on: Queries['db'], below: string) =>
  on.selectFrom('leases').select('name').where('name', '<', below).orderBy('name')
const lockAll = readRows((db, below: string) => lockable(db, below).forUpdate())
const lockFree = readRows((db, below: string) => lockable(db, below).forUpdate().skipLocked())
const lockShared = readRows((db, below: string) => lockable(db, below).forShare())

const namesOf = async (tx: Tx, below: string, lock = lockAll) =>
  (await lock(tx, below)).map(({ name }) => name)

async function putThree(store: Store): Promise<void> {
  await store.write(async (tx) => {
    for (const name of ['a', 'b', 'c']) await put(tx, name)
  })
}

onEveryDialect('locking rows', (dialect) => {
  test('answers the rows', async () => {
    await using world = await testStore(dialect)
    await putThree(world.store)
    assert.deepEqual(await world.store.write((tx) => namesOf(tx, 'c')), ['a', 'b'])
    assert.deepEqual(await world.store.write((tx) => namesOf(tx, 'c', lockFree)), ['a', 'b'])
    assert.deepEqual(await world.store.write((tx) => namesOf(tx, 'c', lockShared)), ['a', 'b'])
  })
})

test('rows that another transaction of postgres has locked are left out when the query asks for it', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  await putThree(store)
  await store.write(async (tx) => {
    assert.deepEqual(await namesOf(tx, 'b'), ['a'])
    const others = await store.write((other) => namesOf(other, 'z', lockFree))
    assert.deepEqual(others, ['b', 'c'])
  })
})

test('transactions of postgres can share rows, which keeps others from changing them', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  await putThree(store)
  await store.write(async (tx) => {
    assert.deepEqual(await namesOf(tx, 'b', lockShared), ['a'])
    assert.deepEqual(await store.write((other) => namesOf(other, 'b', lockShared)), ['a'])
    assert.deepEqual(await store.write((other) => namesOf(other, 'z', lockFree)), ['b', 'c'])
  })
})

test('a transaction of postgres waits for rows that another one has locked', async () => {
  await using world = await testStore('postgres')
  const { store } = world
  await putThree(store)
  let second: Promise<string[]> | undefined
  await store.write(async (tx) => {
    await namesOf(tx, 'z')
    second = store.write((other) => namesOf(other, 'z'))
    await eventually('the second transaction waits for a lock', async () => {
      const waiting = await sql`select 1 from pg_locks where not granted`.execute(store.read.db)
      return waiting.rows.length > 0
    })
  })
  assert.deepEqual(await second, ['a', 'b', 'c'])
})
