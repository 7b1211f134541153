import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { inspectSqlite } from './sqlite-snapshot.ts'

function temporaryFiles() {
  const directory = temporaryDirectory()
  const path = join(directory.path, 'platform.db')
  return {
    /** What a new file with these statements contains. */
    async inspect(script: string, fill: (database: DatabaseSync) => void = () => undefined) {
      rmSync(path, { force: true })
      const database = new DatabaseSync(path)
      database.exec('pragma synchronous = off; begin')
      database.exec(script)
      fill(database)
      database.exec('commit')
      database.close()
      return inspectSqlite(path, {})
    },
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  }
}

/** The number of different hashes of tables with the same columns, each with one of these contents. */
async function differentHashes(columns: string, contents: readonly string[]): Promise<number> {
  using files = temporaryFiles()
  const tables = contents.map(
    (rows, index) => `create table t${index} ${columns}; insert into t${index} values ${rows}`,
  )
  const { tables: inspected } = await files.inspect(tables.join(';'))
  return new Set(Object.values(inspected).map(({ hash }) => hash)).size
}

const VALUES =
  "1,1.0,'1',x'31',null,'',x'',0,-0.5,'1.0','a'||char(0)||'b','a',0.1,0.10000000000000002,1e308".split(',')

for (const columns of ['(a)', '(a any) strict'])
  test(`values of different types have different hashes in a table ${columns}`, async () => {
    const values = [...VALUES, '9007199254740993', '9007199254740992'].map((value) => `(${value})`)
    assert.equal(await differentHashes(columns, values), values.length)
  })

test('the same bytes in other columns or rows have another hash', async () => {
  const rows = [
    '(2, 1)',
    '(21, null)',
    '(null, 21)',
    '(2, null), (1, null)',
    '(2, 1), (null, null)',
    '(1, 2)',
  ]
  assert.equal(await differentHashes('(a int, b int) strict', rows), rows.length)
  const texts = [
    "('ab', 'c')",
    "('a', 'bc')",
    "('abc', null)",
    "(null, 'abc')",
    "('abc', '')",
    "('a', 'b'), ('c', '')",
  ]
  assert.equal(await differentHashes('(a text, b text) strict', texts), texts.length)
})

test('another name of a column is another content', async () => {
  using files = temporaryFiles()
  const { tables } = await files.inspect(
    'create table t (a int); insert into t values (1); create table u (b int); insert into u values (1)',
  )
  assert.notEqual(tables['t']?.hash, tables['u']?.hash)
})

for (const [what, table] of [
  ['without row numbers', 't (k text, v blob, primary key (k)) without rowid, strict'],
  [
    'whose columns have the names of the row number',
    't (rowid text, _rowid_ text, oid text, k text, v blob)',
  ],
  ['with generated columns', 't (k text, v blob, n as (length(v)), m as (k || 1) stored)'],
  [
    'with 90 columns',
    `t (k text, v blob, ${Array.from({ length: 88 }, (_, column) => `c${column} int`).join(', ')})`,
  ],
] as const)
  test(`the content of a table ${what} is read`, async () => {
    using files = temporaryFiles()
    const hashes = new Set<string>()
    for (const changed of [0, 1, 500, 999]) {
      const { tables } = await files.inspect(`create table ${table}`, (database) => {
        const insert = database.prepare('insert into t (k, v) values (?, ?)')
        for (let row = 0; row < 1_000; row++)
          insert.run(String(row), Buffer.from(row === changed ? 'x' : 'y'))
      })
      assert.equal(tables['t']?.rows, 1_000)
      hashes.add(tables['t']?.hash ?? '')
    }
    assert.equal(hashes.size, 4)
  })

test('rows of very different sizes are read in small batches, and rows with the smallest and largest numbers', async () => {
  using files = temporaryFiles()
  const numbers = [
    -(2n ** 63n),
    -5n,
    ...Array.from({ length: 3_000 }, (_, row) => BigInt(row)),
    2n ** 63n - 1n,
  ]
  const { tables } = await files.inspect('create table t (id integer primary key, v blob)', (database) => {
    const insert = database.prepare('insert into t values (?, zeroblob(?))')
    insert.setReadBigInts(true)
    for (const number of numbers) insert.run(number, number % 1_500n === 1_499n ? 20_000_000 : 10)
    insert.run(10_000n, 70_000_000)
  })
  assert.equal(tables['t']?.rows, numbers.length + 1)
})

test('a database without a list of migrations, or without a table, is read too', async () => {
  using files = temporaryFiles()
  const { schemaVersion, tables } = await files.inspect(
    'create table "a ""b" (x); create view v as select 1; create table s (n integer primary key autoincrement)',
  )
  assert.deepEqual([schemaVersion, Object.keys(tables)], ['', ['a "b', 's']])
  assert.deepEqual((await files.inspect('create table t (x); drop table t')).tables, {})
})
