import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { eventually } from '../../test/support/eventually.ts'
import { onEveryDialect, testStore } from '../../test/support/store.ts'
import { lockRows, type LockOptions } from './locking.ts'
import { statement } from './statement.ts'
import type { Store, Tx } from './store.ts'

const put = statement<{ name: string }>((db, value) =>
  db.insertInto('leases').values({ name: value('name'), holder: 'me', expires_at: 1 }),
)

const lock = (options: LockOptions) =>
  statement<{ below: string }, { name: string }>((db, value, capabilities) =>
    db
      .selectFrom('leases')
      .select('name')
      .where('name', '<', value('below'))
      .orderBy('name')
      .$call(lockRows(capabilities, options)),
  )
const lockFree = lock({ skipLocked: true })
const lockAll = lock({})
const lockShared = lock({ share: true })

const namesOf = async (tx: Tx, below: string, query = lockAll) =>
  (await tx.run(query, { below })).map(({ name }) => name)

async function putThree(store: Store): Promise<void> {
  await store.write(async (tx) => {
    for (const name of ['a', 'b', 'c']) await tx.change(put, { name })
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
