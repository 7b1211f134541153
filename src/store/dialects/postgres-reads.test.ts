import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { testStore } from '../../../test/support/store.ts'
import { readRows } from '../tables.ts'

const backend = readRows((db) => db.selectNoFrom(sql<number>`pg_backend_pid()`.as('pid')))
const inverse = readRows((db, of: number) => db.selectNoFrom(sql<number>`1 / ${of}::integer`.as('value')))
const expiries = readRows((db) => db.selectFrom('leases').select('expires_at'))

const times = <T>(count: number, read: () => Promise<T>) => Promise.all(Array.from({ length: count }, read))

test('prepared reads that overlap share connections, eight each; those of the builder have one each', async () => {
  await using world = await testStore('postgres')
  const { read } = world.store
  const prepared = await times(16, () => backend(read))
  assert.equal(new Set(prepared.map(([row]) => row?.pid)).size, 2)
  const built = await times(4, () => read.db.selectNoFrom(sql<number>`pg_backend_pid()`.as('pid')).execute())
  assert.equal(new Set(built.map(([row]) => row?.pid)).size, 4)
})

test('a read that fails does not affect those that share its connection', async () => {
  await using world = await testStore('postgres')
  const { read } = world.store
  const outcomes = await Promise.allSettled([1, 0, -1].map((of) => inverse(read, of)))
  assert.deepEqual(
    outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as Error).message,
    ),
    [[{ value: 1 }], 'division by zero', [{ value: -1 }]],
  )
})

test('a read goes on when another release changes the type of a column', async () => {
  await using world = await testStore('postgres')
  const { read } = world.store
  await sql.raw("insert into leases values ('a', 'me', 7)").execute(read.db)
  assert.deepEqual(await expiries(read), [{ expires_at: 7 }])
  await sql.raw('alter table leases alter column expires_at type integer').execute(read.db)
  assert.deepEqual(await times(4, () => expiries(read)), Array(4).fill([{ expires_at: 7 }]))
})

test('reads go on after the server has ended their connection', async () => {
  await using world = await testStore('postgres')
  const { read } = world.store
  const end = readRows((db) =>
    db.selectNoFrom(sql<boolean>`pg_terminate_backend(pg_backend_pid())`.as('ended')),
  )
  await assert.rejects(end(read))
  assert.equal((await inverse(read, 1))[0]?.value, 1)
})
