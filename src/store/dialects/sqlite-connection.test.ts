import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { SqliteConnection, ReadGate, SqliteStatements } from './sqlite-connection.ts'

const connectionTo = (database: DatabaseSync) => new SqliteConnection(new SqliteStatements(database))

test('a read waits for a lock of another process without stopping the event loop', async () => {
  using directory = temporaryDirectory()
  const path = join(directory.path, 'locked.db')
  // Without a WAL a writer locks readers out, as its recovery does with one.
  using other = new DatabaseSync(path)
  other.exec("create table things (name text); insert into things values ('a'); begin exclusive")
  using database = new DatabaseSync(path, { timeout: 0 })
  const connection = connectionTo(database)
  const read = connection.run('select name from things', [])
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  other.exec('commit')
  assert.deepEqual(
    (await read).rows.map((row) => ({ ...(row as object) })),
    [{ name: 'a' }],
  )
})

test('a file that is no database makes the store unavailable', async () => {
  using directory = temporaryDirectory()
  const path = join(directory.path, 'broken.db')
  writeFileSync(path, 'this is no database, but it is long enough to be looked at as one'.repeat(20))
  using broken = new DatabaseSync(path)
  await assert.rejects(connectionTo(broken).run('select * from sqlite_schema', []), {
    code: 'store_unavailable',
  })
})

test('a statement in use stays prepared, however many others there are', async () => {
  using database = new DatabaseSync(':memory:')
  const prepared: string[] = []
  const prepare = database.prepare.bind(database)
  database.prepare = (text) => (prepared.push(text), prepare(text))
  const connection = connectionTo(database)
  for (let number = 0; number < 1_000; number++) {
    await connection.run(`select ${number}`, [])
    await connection.run('select 0', [])
  }
  await connection.run('select 999', [])
  assert.equal(prepared.length, 1_000)
})

const list = { rows: Array.from({ length: 100 }, (_, row) => row) }
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('a read runs at once', () => {
  assert.equal(
    new ReadGate().run(() => list),
    list,
  )
})

test('each turn of the event loop has its share of the reads, in their order', async () => {
  const gate = new ReadGate()
  const done: number[] = []
  const reads = Array.from({ length: 12 }, async (_, number) => {
    await gate.run(() => (done.push(number), list))
  })
  const counts = [done.length]
  while (done.length < reads.length) {
    await nextTurn()
    counts.push(done.length)
  }
  assert.deepEqual(counts, [5, 10, 12])
  await Promise.all(reads)
  assert.deepEqual(
    done,
    [...done].sort((a, b) => a - b),
  )
})

test('a read that comes later does not overtake the waiting ones', async () => {
  const gate = new ReadGate()
  const done: string[] = []
  const read = async (name: string) => void (await gate.run(() => (done.push(name), list)))
  const early = Array.from({ length: 11 }, () => read('early'))
  await nextTurn()
  await Promise.all([...early, read('late')])
  assert.equal(done.at(-1), 'late')
})

test('reads that find nothing have their share, too', async () => {
  const gate = new ReadGate()
  let done = 0
  const reads = Array.from({ length: 1_000 }, async () => gate.run(() => (done++, { rows: [] })))
  assert.ok(done < 100)
  await Promise.all(reads)
  assert.equal(done, 1_000)
})

test('a read that fails late rejects, and the others go on', async () => {
  const gate = new ReadGate()
  const reads = Array.from({ length: 7 }, async (_, number) =>
    gate.run(() => {
      if (number === 5) throw new Error('no such table')
      return list
    }),
  )
  const outcomes = await Promise.allSettled(reads)
  assert.deepEqual(
    outcomes.map(({ status }) => status === 'rejected'),
    [false, false, false, false, false, true, false],
  )
})
