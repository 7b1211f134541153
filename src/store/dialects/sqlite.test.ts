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
  (await store.read.db.selectFrom('leases').select('name').orderBy('name').execute()).map(({ name }) => name)

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
