import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { takeSnapshot } from '../../../programs/backup/package/take-snapshot.ts'
import type { DatabaseFiles } from '../../ports/database-files.ts'
import { BackupError } from '../../../programs/backup/errors.ts'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import type { Store } from '../../store/store.ts'
import { databaseFiles } from './database-files.ts'

async function openWorld(dialect: DialectName) {
  await using opening = new AsyncDisposableStack()
  const { path: directory } = opening.use(temporaryDirectory())
  const { store, address } = opening.use(await testStore(dialect))
  const files: DatabaseFiles = databaseFiles(address)
  let count = 0
  const opened = opening.move()
  return {
    directory,
    store,
    address,
    files,
    take: () => takeSnapshot(files, join(directory, `${count++}.snapshot`)),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const insert = (store: Store, name: string, expiresAt = 1) =>
  store.write((tx) =>
    tx.db.insertInto('leases').values({ name, holder: 'me', expires_at: expiresAt }).execute(),
  )

async function fill(store: Store): Promise<void> {
  for (const name of ['a', 'b', 'tab\tand\nline', '\\.', 'ü', '']) await insert(store, name, name.length)
}

/** Moves every row to another place in the file. */
const REWRITES: Readonly<Record<DialectName, (store: Store) => Promise<unknown>>> = {
  sqlite: (store) => sql`vacuum`.execute(store.read.db),
  postgres: (store) =>
    store.write(async (tx) => {
      await sql`update leases set holder = 'other' where name < 'b'`.execute(tx.db)
      await sql`update leases set holder = 'me'`.execute(tx.db)
    }),
}

onEveryDialect('the database in files', (dialect) => {
  test('is copied while writes go on; the copy is described', async () => {
    await using w = await openWorld(dialect)
    await fill(w.store)
    const { file, size, sha256, schemaVersion, tables } = await w.take()
    const bytes = readFileSync(file)
    assert.deepEqual([size, sha256], [bytes.length, hash('sha256', bytes)])
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(tables['leases']?.rows, 6)
    assert.equal(tables['orders']?.rows, 0)
    assert.match(schemaVersion, /^\d{4}-/)
    assert.deepEqual(
      [...new Set(Object.values(tables).map((table) => /^[0-9a-f]{64}$/.test(table.hash)))],
      [true],
    )
    assert.ok((await w.files.databaseBytes()) > 0)
    assert.match(w.files.packagedAs, /^database\/platform\.(db|dump)$/)
  })

  test('has the same hashes wherever the engine keeps the rows', async () => {
    await using w = await openWorld(dialect)
    await fill(w.store)
    const before = await w.take()
    await REWRITES[dialect](w.store)
    const after = await w.take()
    assert.deepEqual(after.tables, before.tables)
  })

  for (const [what, change] of [
    ['a row more', "insert into leases (name, holder, expires_at) values ('c', 'me', 1)"],
    ['a row less', "delete from leases where name = 'a'"],
    ['another value', "update leases set expires_at = 2 where name = 'a'"],
    ['a value in another column', "update leases set name = holder, holder = name where name = 'a'"],
  ] as const) {
    test(`has another hash with ${what}, in that table only`, async () => {
      await using w = await openWorld(dialect)
      await fill(w.store)
      const before = await w.take()
      await w.store.write((tx) => sql.raw(change).execute(tx.db))
      const after = await w.take()
      const changed = Object.keys(after.tables).filter(
        (name) => after.tables[name]?.hash !== before.tables[name]?.hash,
      )
      assert.deepEqual(changed, ['leases'])
    })
  }

  test('is snapshot_failed when the copy cannot be written, and leaves nothing', async () => {
    await using w = await openWorld(dialect)
    const target = join(w.directory, 'missing', 'platform.snapshot')
    await assert.rejects(takeSnapshot(w.files, target), { errorCode: 'snapshot_failed' })
    await assert.rejects(
      takeSnapshot(w.files, join(w.directory, 'x'), { signal: AbortSignal.abort() }),
      BackupError,
    )
    assert.deepEqual(readdirSync(w.directory), [])
  })

  test('is checked after a restoration', async () => {
    await using w = await openWorld(dialect)
    await fill(w.store)
    const { file, tables, schemaVersion } = await w.take()
    const restored = w.files.restoredDatabase(file)
    assert.match((await restored.opens()).detail, /^an? (SQLite file|archive)/)
    assert.equal((await restored.integrity()).isPossible, true)
    assert.equal((await restored.foreignKeys()).isPossible, dialect === 'sqlite')
    const rows = Object.entries(tables).map(([name, table]) => [name, table.rows])
    assert.deepEqual(await restored.rowCounts(), Object.fromEntries(rows))
    assert.deepEqual(await restored.contents(), { tables, schemaVersion })
    assert.deepEqual(readdirSync(w.directory), ['0.snapshot'])
  })

  test('fails a check after a restoration that has lost its end, or is another file', async () => {
    await using w = await openWorld(dialect)
    await fill(w.store)
    const bytes = readFileSync((await w.take()).file)
    const damaged = join(w.directory, 'damaged')
    writeFileSync(damaged, bytes.subarray(0, Math.floor(bytes.length / 2)))
    const restored = w.files.restoredDatabase(damaged)
    await assert.rejects(async () => {
      await restored.opens()
      await restored.integrity()
    }, /is damaged: /)
    writeFileSync(damaged, 'something else')
    await assert.rejects(w.files.restoredDatabase(damaged).opens(), /neither a SQLite file nor an archive/)
  })
})

describe('a snapshot', () => {
  test('of a database that is missing or no database is snapshot_failed, and creates none', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'platform.db')
    const files = databaseFiles({ kind: 'sqlite', path })
    const target = join(directory.path, 'target')
    await assert.rejects(takeSnapshot(files, target), {
      errorCode: 'snapshot_failed',
      message: `The database was not copied: There is no database ${path}.`,
    })
    assert.deepEqual(readdirSync(directory.path), [])
    writeFileSync(path, 'no database '.repeat(1_000))
    await assert.rejects(takeSnapshot(files, target), { errorCode: 'snapshot_failed' })
    assert.deepEqual(readdirSync(directory.path), ['platform.db'])
    mkdirSync(join(directory.path, 'directory'))
    const other = databaseFiles({ kind: 'sqlite', path: join(directory.path, 'directory') })
    await assert.rejects(takeSnapshot(other, target), { errorCode: 'snapshot_failed' })
  })

  for (const message of ['ENOSPC: no space left on device, write', 'database or disk is full'])
    test(`that fails with "${message}" is no_space`, async () => {
      const files = {
        snapshot: () => Promise.reject(new Error(message)),
        inspect: () => Promise.reject(new Error('not called')),
      }
      await assert.rejects(takeSnapshot(files, '/nowhere'), { errorCode: 'no_space' })
    })
})
