import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { testStore } from '../../../test/support/store.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { openStore } from '../open.ts'
import type { Store } from '../store.ts'

const FILES = ['platform.db', 'platform.db-wal']

test('a read-only store does not change the files of a crashed process, and reads its commits', async () => {
  await using crashed = await testStore('sqlite')
  await crashed.store.write(({ db }) =>
    db.insertInto('leases').values({ name: 'a', holder: 'me', expires_at: 1 }).execute(),
  )
  using copy = temporaryDirectory()
  assert.ok(crashed.address.kind === 'sqlite')
  const original = crashed.address.path
  for (const name of FILES) copyFileSync(original.replace('platform.db', name), join(copy.path, name))
  const contents = () => FILES.map((name) => readFileSync(join(copy.path, name)))
  const before = contents()

  const store = await openStore({
    database: { kind: 'sqlite', path: join(copy.path, 'platform.db') },
    readOnly: true,
    clock: systemClock,
    metrics: noMetrics,
    logger: silentLogger,
  })
  const query = store.read.db.selectFrom('leases').select('name')
  assert.deepEqual(
    (await query.execute()).map(({ name }) => name),
    ['a'],
  )
  assert.deepEqual(
    (await store.readAside(query)).map(({ name }) => name),
    ['a'],
  )
  await store.close()
  assert.deepEqual(contents(), before)
})

const put = (store: Store, name: string) =>
  store.write(({ db }) => db.insertInto('leases').values({ name, holder: 'me', expires_at: 1 }).execute())
const names = async (store: Store) =>
  // Without the row of the check.
  (
    await store.read.db
      .selectFrom('leases')
      .select('name')
      .where('name', '!=', 'store-check')
      .orderBy('name')
      .execute()
  ).map(({ name }) => name)

async function requireRefused(store: Store): Promise<void> {
  const refusal = { code: 'store_unavailable', message: /was replaced or removed/ }
  await assert.rejects(put(store, 'lost'), refusal)
  await assert.rejects(store.check(), refusal)
}

test('a database file that is moved away takes no changes until it is back', async () => {
  await using world = await testStore('sqlite')
  assert.ok(world.address.kind === 'sqlite')
  const { store, address } = world
  await put(store, 'a')
  renameSync(address.path, `${address.path}.moved`)
  await requireRefused(store)
  assert.deepEqual(await names(store), ['a'], 'reads go on')
  renameSync(`${address.path}.moved`, address.path)
  await put(store, 'b')
  await store.check()
  assert.deepEqual(await names(store), ['a', 'b'])
})

test('a database file that is replaced by another one takes no changes', async () => {
  await using world = await testStore('sqlite')
  assert.ok(world.address.kind === 'sqlite')
  const { store, address } = world
  await put(store, 'a')
  copyFileSync(address.path, `${address.path}.restored`)
  renameSync(`${address.path}.restored`, address.path)
  await requireRefused(store)
})

test('a database file that is removed takes no changes', async () => {
  await using world = await testStore('sqlite')
  assert.ok(world.address.kind === 'sqlite')
  const { store, address } = world
  await put(store, 'a')
  rmSync(address.path)
  await requireRefused(store)
})

test('a change is not acknowledged when the database file is replaced during its transaction', async () => {
  await using world = await testStore('sqlite')
  assert.ok(world.address.kind === 'sqlite')
  const { store, address } = world
  const write = store.write(async ({ db }) => {
    await db.insertInto('leases').values({ name: 'lost', holder: 'me', expires_at: 1 }).execute()
    rmSync(address.path)
  })
  await assert.rejects(write, { code: 'store_unavailable' })
})

test('a write does not wait for a thousand lists', async () => {
  await using world = await testStore('sqlite')
  const { store } = world
  await store.write(({ db }) =>
    db
      .insertInto('leases')
      .values(Array.from({ length: 100 }, (_, n) => ({ name: `row ${n}`, holder: 'me', expires_at: 1 })))
      .execute(),
  )
  let listed = 0
  const lists = Array.from({ length: 1_000 }, async () => {
    assert.equal((await names(store)).length, 100)
    listed++
  })
  await store.write(async () => {})
  assert.ok(listed > 0 && listed < 200, `${listed} lists were read first`)
  await Promise.all(lists)
})

/** Writes these names in one transaction; counts the statements of each turn of the event loop. */
async function putAll(store: Store, all: readonly string[], { thenFail = false } = {}) {
  const counts: number[] = [0]
  const reads: Promise<string[]>[] = []
  let isDone = false
  const onTurn = () => {
    if (isDone) return
    counts.push(0)
    reads.push(names(store))
    setImmediate(onTurn)
  }
  setImmediate(onTurn)
  const written = store.write(async ({ db }) => {
    for (const name of all) {
      counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1
      await db.insertInto('leases').values({ name, holder: 'me', expires_at: 1 }).execute()
    }
    if (thenFail) throw new Error('too late')
  })
  const outcome = await written.then(
    () => 'committed',
    () => 'rolled back',
  )
  isDone = true
  return { outcome, mostInOneTurn: Math.max(...counts), read: await Promise.all(reads) }
}

const numbered = (word: string) => Array.from({ length: 200 }, (_, number) => `${word} ${number}`)

test('a transaction of many statements leaves the event loop between them, and nobody sees or joins its half', async () => {
  await using world = await testStore('sqlite')
  const all = numbered('a')
  const [{ outcome, mostInOneTurn, read }] = await Promise.all([
    putAll(world.store, all),
    put(world.store, 'b'),
  ])
  assert.equal(outcome, 'committed')
  assert.ok(mostInOneTurn <= 30, `${mostInOneTurn} statements in one turn`)
  const whole = [0, 1, all.length, all.length + 1]
  assert.deepEqual(
    read.filter(({ length }) => !whole.includes(length)),
    [],
  )
  assert.deepEqual(await names(world.store), [...all, 'b'].toSorted())
})

test('a transaction that fails after many turns leaves nothing, and the others of its group are whole', async () => {
  await using world = await testStore('sqlite')
  const [failed, other] = await Promise.all([
    putAll(world.store, numbered('a'), { thenFail: true }),
    putAll(world.store, numbered('b')),
  ])
  assert.deepEqual([failed.outcome, other.outcome], ['rolled back', 'committed'])
  assert.deepEqual(await names(world.store), numbered('b').toSorted())
})
