import assert from 'node:assert/strict'
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { scopeOf } from '../../../test/support/scope.ts'
import { hashFile } from '../files/thread.ts'
import type { Tx } from '../store.ts'
import { sqliteRestore } from './sqlite-restore.ts'

const STAMP = '20260131T020000Z'

/** A directory with a snapshot, in which the table `things` has one row. */
async function world(t: TestContext) {
  const { path: directory } = scopeOf(t).use(temporaryDirectory())
  const path = join(directory, 'snapshot.db')
  createDatabase(path, 1)
  return { directory, snapshot: { path, sha256: await hashFile(path), finish: async () => {} } }
}

function createDatabase(path: string, rows: number): void {
  using database = new DatabaseSync(path)
  database.exec('create table things (id integer primary key)')
  for (let row = 0; row < rows; row++) database.exec('insert into things default values')
}

function countThings(path: string): unknown {
  using database = new DatabaseSync(path, { readOnly: true })
  return database.prepare('select count(*) as count from things').get()?.['count']
}

test('a restoration creates the directory of the database, for its owner only', async (t) => {
  const { directory, snapshot } = await world(t)
  const path = join(directory, 'new', 'data', 'platform.db')
  assert.deepEqual(await sqliteRestore(path).replace(snapshot, STAMP), { former: undefined })
  assert.equal(countThings(path), 1)
  assert.deepEqual(
    [dirname(path), path].map((each) => statSync(each).mode & 0o777),
    [0o700, 0o600],
  )
})

test('a database that is opened after the first check is not replaced', async (t) => {
  const { directory, snapshot } = await world(t)
  const path = join(directory, 'platform.db')
  createDatabase(path, 2)
  const target = sqliteRestore(path)
  await target.requireUnserved()
  using server = new DatabaseSync(path)
  server.exec('pragma journal_mode = wal; insert into things default values')
  await assert.rejects(target.replace(snapshot, STAMP), { code: 'database_in_use' })
  assert.equal(countThings(path), 3)
  const others = readdirSync(directory).filter((name) => /restor/.test(name))
  assert.deepEqual(others, [], 'no copy is left behind')
})

test('a restored database is finished before it takes the place of the former one', async (t) => {
  const { directory, snapshot } = await world(t)
  const path = join(directory, 'platform.db')
  createDatabase(path, 5)
  const finish = async ({ db }: Tx) => {
    assert.equal(countThings(path), 5)
    await sql`insert into things default values`.execute(db)
  }
  const { former } = await sqliteRestore(path).replace({ ...snapshot, finish }, STAMP)
  assert.deepEqual(readdirSync(directory).toSorted(), ['platform.db', basename(former ?? ''), 'snapshot.db'])
  assert.deepEqual([countThings(path), countThings(former ?? '')], [2, 5])
})

test('a restored database that cannot be finished leaves the former one, and no copy', async (t) => {
  const { directory, snapshot } = await world(t)
  const path = join(directory, 'platform.db')
  createDatabase(path, 5)
  const finish = async () => Promise.reject(new Error('not finished'))
  await assert.rejects(sqliteRestore(path).replace({ ...snapshot, finish }, STAMP), /not finished/)
  assert.equal(countThings(path), 5)
  assert.deepEqual(readdirSync(directory).toSorted(), ['platform.db', 'snapshot.db'])
})

// An id that no user of the tests has.
const OWNER = 4_711
const accessTo = (path: string) => {
  const { uid, gid, mode } = statSync(path)
  return [uid, gid, (mode & 0o777).toString(8)]
}

test(
  'a restoration by root keeps owner, group and permissions',
  { skip: process.getuid?.() !== 0 },
  async (t) => {
    const { directory, snapshot } = await world(t)
    const data = join(directory, 'data')
    mkdirSync(data)
    chownSync(data, OWNER, OWNER)
    const path = join(data, 'platform.db')
    await sqliteRestore(path).replace(snapshot, STAMP)
    assert.deepEqual(
      accessTo(path),
      [OWNER, OWNER, '600'],
      'without a former one, the owner of the directory',
    )
    chownSync(path, OWNER, OWNER + 1)
    chmodSync(path, 0o640)
    const { former } = await sqliteRestore(path).replace(snapshot, STAMP)
    assert.deepEqual([path, former ?? ''].map(accessTo), Array(2).fill([OWNER, OWNER + 1, '640']))
  },
)

test('a database that is a symbolic link stays one, and its target is replaced', async (t) => {
  const { directory, snapshot } = await world(t)
  const [path, target] = [join(directory, 'platform.db'), join(directory, 'disk', 'shop.db')]
  symlinkSync('disk/shop.db', path)
  assert.deepEqual(await sqliteRestore(path).replace(snapshot, STAMP), { former: undefined })
  assert.equal(countThings(target), 1)
  const other = join(directory, 'other.db')
  createDatabase(other, 4)
  const { former } = await sqliteRestore(path).replace(
    { ...snapshot, path: other, sha256: await hashFile(other) },
    STAMP,
  )
  assert.deepEqual([countThings(target), countThings(former ?? '')], [4, 1])
  assert.ok(former?.startsWith(join(directory, 'disk')))
  assert.ok(lstatSync(path).isSymbolicLink())
})
