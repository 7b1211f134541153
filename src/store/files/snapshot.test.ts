import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Client } from 'pg'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { createTestDatabase } from '../../../test/support/postgres.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
import type { AppError } from '../../kernel/errors.ts'
import type { DialectName } from '../dialects/capabilities.ts'
import type { Store } from '../store.ts'
import { changeRows } from '../tables.ts'

const put = changeRows((db, name: string) =>
  db.insertInto('leases').values({ name, holder: 'me', expires_at: 1 }),
)
const putPair = (store: Store, pair: number) =>
  store.write(async (tx) => {
    await put(tx, `${pair} a`)
    await put(tx, `${pair} b`)
  })

/** The names in the snapshot, in order. */
const READERS: Readonly<Record<DialectName, (path: string) => Promise<string[]>>> = {
  async sqlite(path) {
    using database = new DatabaseSync(path, { readOnly: true })
    assert.deepEqual({ ...database.prepare('pragma integrity_check').get() }, { integrity_check: 'ok' })
    return database
      .prepare('select name from leases order by name')
      .all()
      .map((row) => String(row['name']))
  },
  async postgres(path) {
    const { url, drop } = await createTestDatabase()
    const client = new Client({ connectionString: url })
    try {
      const restore = spawn('pg_restore', ['--exit-on-error', `--dbname=${url}`, path], { stdio: 'inherit' })
      assert.deepEqual(await once(restore, 'close'), [0, null])
      await client.connect()
      const { rows } = await client.query<{ name: string }>('select name from leases order by name')
      return rows.map(({ name }) => name)
    } finally {
      await client.end()
      await drop()
    }
  },
}

onEveryDialect('a snapshot', (dialect) => {
  test('is a consistent copy, which only the owner can read, while writes go on', async () => {
    await using world = await testStore(dialect)
    using directory = temporaryDirectory()
    const { store } = world
    const path = join(directory.path, 'platform.snapshot')
    await putPair(store, 0)
    let pairs = 1
    let isDone = false
    const snapshot = store.snapshot(path).finally(() => (isDone = true))
    while (!isDone) await putPair(store, pairs++)
    await snapshot
    assert.deepEqual(readdirSync(directory.path), ['platform.snapshot'])
    assert.equal(statSync(path).mode & 0o777, 0o600)
    const names = await READERS[dialect](path)
    assert.ok(names.length >= 2 && names.length <= 2 * pairs)
    assert.deepEqual(
      names.filter((name) => name.endsWith('a')).map((name) => name.replace('a', 'b')),
      names.filter((name) => name.endsWith('b')),
    )
  })

  test('replaces an older one', async () => {
    await using world = await testStore(dialect)
    using directory = temporaryDirectory()
    const path = join(directory.path, 'platform.snapshot')
    await world.store.snapshot(path)
    await putPair(world.store, 1)
    await world.store.snapshot(path)
    assert.deepEqual(await READERS[dialect](path), ['1 a', '1 b'])
  })

  test('that is aborted leaves nothing', async () => {
    await using world = await testStore(dialect)
    using directory = temporaryDirectory()
    const path = join(directory.path, 'platform.snapshot')
    const abort = new AbortController()
    const snapshot = world.store.snapshot(path, { signal: abort.signal })
    abort.abort()
    await assert.rejects(snapshot, { name: 'AbortError' })
    await assert.rejects(world.store.snapshot(path, { signal: abort.signal }), { name: 'AbortError' })
    assert.deepEqual(readdirSync(directory.path), [])
  })

  test('that cannot be written says why', async () => {
    await using world = await testStore(dialect)
    const snapshot = world.store.snapshot('/dev/null/platform.snapshot')
    await assert.rejects(snapshot, (error: AppError) => {
      assert.equal(error.code, 'store_unavailable')
      assert.match(error.message, /snapshot could not be written: .*\/dev\/null/)
      return true
    })
  })
})
