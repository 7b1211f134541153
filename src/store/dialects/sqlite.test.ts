import assert from 'node:assert/strict'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { testStore } from '../../../test/support/store.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { openStore } from '../open.ts'

const FILES = ['platform.db', 'platform.db-wal']

test('a read-only store leaves the files of a program that crashed as they are, and sees what it committed', async () => {
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
