import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { CompiledQuery } from 'kysely'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { scopeOf } from '../../../test/support/scope.ts'
import { ReaderThread } from './sqlite-threads.ts'

/** A reader of an empty database, and how many threads were started meanwhile. */
function readerWorld(t: TestContext) {
  const scope = scopeOf(t)
  const path = join(scope.use(temporaryDirectory()).path, 'a.db')
  new DatabaseSync(path).close()
  let threads = 0
  const count = () => void threads++
  process.on('worker', count)
  scope.defer(() => void process.off('worker', count))
  const reader = new ReaderThread(path)
  scope.defer(() => reader.end())
  const read = (text: string) => reader.read(CompiledQuery.raw(text))
  return { reader, read, threads: () => threads }
}

test('queries at the same time share one thread, and each has its own rows', async (t) => {
  const { read, threads } = readerWorld(t)
  const rows = await Promise.all([read('select 1 as n'), read('select 2 as n'), read('select 3 as n')])
  assert.deepEqual(rows, [[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]])
  assert.equal(threads(), 1)
})

test('a query that fails rejects, and those behind it are answered', async (t) => {
  const { read } = readerWorld(t)
  const [one, refused, two] = await Promise.allSettled([
    read('select 1 as n'),
    read('select no_column'),
    read('select 2 as n'),
  ])
  assert.deepEqual(one, { status: 'fulfilled', value: [{ n: 1 }] })
  assert.equal(refused.status, 'rejected')
  assert.equal(refused.reason.code, 'store_unavailable')
  assert.match(String(refused.reason.cause), /no such column: no_column/)
  assert.deepEqual(two, { status: 'fulfilled', value: [{ n: 2 }] })
})

test('a query after the end gets a new thread', async (t) => {
  const { reader, read, threads } = readerWorld(t)
  await read('select 1 as n')
  reader.end()
  assert.deepEqual(await read('select 2 as n'), [{ n: 2 }])
  assert.equal(threads(), 2)
})

test('the end rejects every query that has no answer', async (t) => {
  const { reader, read } = readerWorld(t)
  const outcomes = Promise.allSettled([read('select 1 as n'), read('select 2 as n')])
  reader.end()
  const statuses = (await outcomes).map(({ status }) => status)
  assert.deepEqual(statuses, ['rejected', 'rejected'])
})

const SLOW = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000)'

/** A program that does nothing but run a query, and prints what it has read, or why it has nothing. */
const PROGRAM = `
  import { ReaderThread } from ${JSON.stringify(join(import.meta.dirname, 'sqlite-threads.ts'))}
  const [, , path, sql] = process.argv
  new ReaderThread(path).read({ sql, parameters: [] }).then(
    ([{ n }]) => process.stdout.write(String(n)),
    ({ cause }) => process.stdout.write(cause.message),
  )`

test('a process waits for the end of its query, also for one that fails', (t) => {
  const { path: directory } = scopeOf(t).use(temporaryDirectory())
  const [database, program] = [join(directory, 'a.db'), join(directory, 'program.ts')]
  new DatabaseSync(database).close()
  writeFileSync(program, PROGRAM)
  const printed = (query: string) =>
    spawnSync(process.execPath, [program, database, `${SLOW} ${query}`], { encoding: 'utf8' }).stdout
  assert.equal(printed('select count(*) as n from n'), '1000000')
  assert.equal(printed('select abs(-9223372036854775807 - max(i) / 1000000) as n from n'), 'integer overflow')
})
