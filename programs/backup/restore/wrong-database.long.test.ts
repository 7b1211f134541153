import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, it } from 'node:test'
import { drillWorld } from '../../../test/support/drill-world.ts'
import type { DrillCheckName, DrillReport } from './drill-report.ts'

const PAGE_BYTES = 4_096

const run = (script: string) => (path: string) => {
  using database = new DatabaseSync(path, { enableForeignKeyConstraints: false, defensive: false })
  database.exec(script)
}

/** Overwrites the middle of a page. */
const damage = (findPage: (database: DatabaseSync) => number) => (path: string) => {
  let page = 0
  {
    using database = new DatabaseSync(path, { readOnly: true })
    page = findPage(database)
  }
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(200, 0xaa), 0, 200, (page - 1) * PAGE_BYTES)
  closeSync(file)
}

/** The root page of a table or an index, where its search begins. */
const rootOf = (name: string) => (database: DatabaseSync) =>
  Number(database.prepare('select rootpage from sqlite_schema where name = ?').get(name)?.['rootpage'])

const failureOf = ({ checks }: DrillReport) => checks.at(-1)

// Every archive is right: its hash, its manifest and each file. Only the database is another one than the manifest describes.
const WRONG: readonly (readonly [string, DrillCheckName, RegExp, (path: string) => void])[] = [
  ['whose first page is damaged', 'database-opens', /neither a SQLite file|damaged/, damage(() => 1)],
  [
    'whose schema cannot be parsed',
    'database-opens',
    /malformed/,
    run(`
    pragma writable_schema = on; update sqlite_schema set sql = 'create nonsense' where name = 'orders'`),
  ],
  ['with a damaged page of a table', 'integrity', /damaged/, damage(rootOf('orders'))],
  ['with a damaged page of an index', 'integrity', /damaged/, damage(rootOf('orders_by_user'))],
  [
    'with an index that lacks a row',
    'integrity',
    /missing from index/,
    run(`
    pragma writable_schema = on; update sqlite_schema set sql = 'create index orders_by_user on orders (note)'
      where name = 'orders_by_user'`),
  ],
  [
    'with a reference to a missing row',
    'foreign-keys',
    /a row of orders refers to a row of users/,
    run("delete from users where id = 'bob'"),
  ],
  [
    'with a missing row',
    'row-counts',
    /orders has 299 rows, and 300 rows in the manifest/,
    run('delete from orders where seq = 7'),
  ],
  ['with a missing table', 'row-counts', /orders has no table, and 300 rows/, run('drop table orders')],
  ['with another table', 'row-counts', /more has 0 rows, and no table/, run('create table more (x)')],
  [
    'with a changed cell',
    'content-hash',
    /orders has another content/,
    run("update orders set note = 'x' where seq = 7"),
  ],
  [
    'with an exchanged cell',
    'content-hash',
    /orders has another content/,
    run(
      "update orders set order_id = 'x' where seq = 7; update orders set order_id = 'order-6' where seq = 8;",
    ),
  ],
  [
    'with a renamed column',
    'content-hash',
    /orders has another content/,
    run('alter table orders rename column note to remark'),
  ],
]

describe('a restore drill of a right archive', () => {
  const w = drillWorld()
  after(() => w[Symbol.dispose]())

  for (const [what, check, detail, spoil] of WRONG)
    it(`with a database ${what} fails the check ${check}, and does not touch the live database`, async () => {
      const before = hash('sha256', readFileSync(w.live))
      const { file } = await w.pack({ spoil })
      await w.publish(readFileSync(file))
      const failure = failureOf(await w.restore())
      assert.ok(failure)
      assert.equal(failure.name, check, failure.detail)
      assert.match(failure.detail, detail)
      assert.ok(!failure.detail.includes(w.directory), 'paths are those of the package')
      assert.equal(hash('sha256', readFileSync(w.live)), before)
    })
})
