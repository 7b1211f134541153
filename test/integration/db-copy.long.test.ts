import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { compareDatabases, copyDatabase, type CopyObserver } from '../../src/store/copy/copy-database.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openStore, type DatabaseAddress } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { newHolder } from '../../src/store/work/holder.ts'
import { writeShopDay } from '../support/shop-day.ts'
import { emptyDatabase } from '../support/store.ts'

const directory = mkdtempSync(join(tmpdir(), 'platform-copy-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const shop = { kind: 'sqlite', path: join(directory, 'platform.db') } as const
before(() => writeShopDay(directory))

const quiet: CopyObserver = () => undefined

async function newDatabase(t: TestContext, dialect: DialectName): Promise<DatabaseAddress> {
  const { address, drop } = await emptyDatabase(dialect)
  t.after(drop)
  return address
}

async function use<T>(database: DatabaseAddress, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ database, clock: systemClock, metrics: noMetrics, logger: silentLogger })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

const rowsOf = (database: DatabaseAddress, text: string) =>
  use(database, async ({ read }) => (await sql.raw<Record<string, unknown>>(text).execute(read.db)).rows)

const change = (database: DatabaseAddress, text: string) =>
  use(database, (store) => store.write(async ({ db }) => void (await sql.raw(text).execute(db))))

/** Every index and constraint, as the database describes it. */
const SCHEMA = {
  sqlite: 'select name, sql from sqlite_schema order by name',
  postgres: `
    select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
    where connamespace = current_schema()::regnamespace
    union all select indexname, indexdef from pg_indexes where schemaname = current_schema() order by 1, 2`,
}

/** Ends the copy before its next step, as a kill does, after so many. */
function cutAfter(steps: number): CopyObserver {
  let left = steps
  return () => {
    if (left-- === 0) throw new Error('cut off')
  }
}

/** Ends the copy when all rows are there. */
const untilIndexes: CopyObserver = (step) => {
  if (step !== 'copying') throw new Error('cut off')
}

test('no limit of the server for statements ends the indexes of a large table', async (t) => {
  const target = await newDatabase(t, 'postgres')
  await assert.rejects(copyDatabase(shop, target, untilIndexes), /cut off/)
  await change(
    target,
    `do $$ begin execute format('alter database %I set statement_timeout = 60000', current_database()); end $$`,
  )
  await change(
    target,
    `create function refuse_limit() returns event_trigger language plpgsql as $$ begin
       if current_setting('statement_timeout') <> '0' then raise 'limited'; end if;
     end $$`,
  )
  await change(target, 'create event trigger refuse_limit on ddl_command_end execute function refuse_limit()')
  const copied = await copyDatabase(shop, target, quiet)
  assert.ok(copied.every(({ isEqual }) => isEqual))
})

for (const dialect of ['postgres', 'sqlite'] as const)
  describe(`a copy to ${dialect}`, () => {
    test('has every row, its constraints, and goes on with the numbers', async (t) => {
      const target = await newDatabase(t, dialect)
      const copied = await copyDatabase(shop, target, quiet)
      assert.ok(copied.every(({ isEqual, rows, targetRows }) => isEqual && rows === targetRows))
      const migrated = await newDatabase(t, dialect)
      await use(migrated, (store) => migrate(store, systemClock))
      assert.deepEqual(await rowsOf(target, SCHEMA[dialect]), await rowsOf(migrated, SCHEMA[dialect]))
      const orders = copied.find(({ table }) => table === 'orders')
      assert.ok((orders?.rows ?? 0) > 400)

      const newest = `select max(seq) as seq from messages`
      const [source] = await rowsOf(shop, newest)
      assert.deepEqual(await rowsOf(target, newest), [source])
      const columns = 'subject, payload, headers, status, attempts, created_at'
      const message = `insert into messages (id, ${columns})
        select 'copied-on', ${columns} from messages where seq = ${String(source?.['seq'])}`
      await change(target, message)
      assert.deepEqual(await rowsOf(target, newest), [{ seq: Number(source?.['seq']) + 1 }])
      await assert.rejects(
        change(target, `insert into ticket_comments (ticket_id, position) values ('nobody', 1)`),
      )
      await assert.rejects(copyDatabase(shop, target, quiet), { code: 'target_not_empty' })
    })

    test('goes on after each cut, and is served by nobody before its end', async (t) => {
      const target = await newDatabase(t, dialect)
      let cuts = 0
      for (let isDone = false; !isDone;) {
        await copyDatabase(shop, target, cutAfter(7)).then(
          () => (isDone = true),
          async (error: Error) => {
            // The comparison is done anew, and longer than this.
            if (error.message !== 'cut off') throw error
            cuts++
          },
        )
        if (isDone) break
        await assert.rejects(
          use(target, (store) => migrate(store, systemClock)),
          { code: 'copy_unfinished' },
        )
        await assert.rejects(compareDatabases(shop, target, quiet), { code: 'copy_unfinished' })
        if (cuts === 12) break
      }
      const copied = await copyDatabase(shop, target, quiet)
      assert.ok(copied.every(({ isEqual }) => isEqual))
      await use(target, (store) => migrate(store, systemClock))
    })

    test('copies a table again whose rows are of two times, since the source was served between two parts', async (t) => {
      const target = await newDatabase(t, dialect)
      await assert.rejects(copyDatabase(shop, target, untilIndexes), /cut off/)
      // An order that was removed after it was copied, and created again.
      if (dialect === 'postgres')
        await change(
          target,
          `update orders set order_id = (select max(order_id) from orders) where seq = (select min(seq) from orders)`,
        )
      const copied = await copyDatabase(shop, target, quiet)
      assert.ok(copied.every(({ isEqual }) => isEqual))
    })

    test('back to the other engine is equal, and a comparison names what differs', async (t) => {
      const there = await newDatabase(t, dialect)
      const back = await newDatabase(t, dialect === 'sqlite' ? 'postgres' : 'sqlite')
      await copyDatabase(shop, there, quiet)
      await copyDatabase(there, back, quiet)
      assert.ok((await compareDatabases(shop, back, quiet)).every(({ isEqual }) => isEqual))
      await change(
        back,
        `update orders set platform = 'other' where order_id = (select min(order_id) from orders)`,
      )
      const differing = (await compareDatabases(shop, back, quiet)).filter(({ isEqual }) => !isEqual)
      assert.deepEqual(
        differing.map(({ table, rows, targetRows }) => [table, rows === targetRows]),
        [['orders', true]],
      )
    })

    test('is refused while a platform writes, and copies again what was written meanwhile', async (t) => {
      const source = await newDatabase(t, dialect)
      await use(source, (store) => migrate(store, systemClock))
      const lease = (until: number) =>
        change(
          source,
          `insert into leases (name, holder, expires_at) values ('dispatch', 'host/1', ${until})`,
        )
      await lease(Date.now() + 60_000)
      const target = await newDatabase(t, 'sqlite')
      await assert.rejects(copyDatabase(source, target, quiet), { code: 'source_in_use', message: /host\/1/ })
      await change(source, 'delete from leases')
      // What a platform of this host leaves that was killed.
      const killed = newHolder().replace(/\/\d+\//, '/999999999/')
      const record = `insert into leases values ('serving:${killed}', '{}', ${Date.now() + 60_000})`
      await change(source, record.replace(killed, 'other/1/a'))
      await assert.rejects(copyDatabase(source, target, quiet), { message: /\(other\/1\/a\)/ })
      await change(source, 'delete from leases')
      await change(source, record)
      await change(
        source,
        `insert into leases values ('of-a-clock-ahead', 'other/1/b', ${Date.now() + 7_200_000})`,
      )

      const writes: Promise<void>[] = []
      const once: CopyObserver = (step, table) => {
        if (step === 'comparing' && table === 'command_locks' && writes.length === 0) writes.push(lease(1))
      }
      const copied = await copyDatabase(source, target, once)
      await Promise.all(writes)
      assert.ok(copied.every(({ isEqual }) => isEqual))
    })

    test('goes to an empty database of this release, and to no other', async (t) => {
      const target = await newDatabase(t, dialect)
      await use(target, (store) => migrate(store, systemClock))
      await change(
        target,
        `insert into leases (name, holder, expires_at) values ('signing-key', 'in use', 1)`,
      )
      await assert.rejects(copyDatabase(shop, target, quiet), { code: 'target_not_empty', message: /leases/ })
      await change(target, 'delete from leases')
      await change(target, `delete from schema_migrations where name like '00%'`)
      await assert.rejects(copyDatabase(shop, target, quiet), { code: 'target_not_empty', message: /schema/ })
    })

    test('leaves alone what is of another program', async (t) => {
      const [from, to, foreign] = await Promise.all([1, 2, 3].map(() => newDatabase(t, dialect)))
      assert.ok(from && to && foreign)
      await use(from, (store) => migrate(store, systemClock))
      await change(from, 'create table notes (seq integer primary key)')
      await change(from, 'insert into notes values (1)')
      const copied = await copyDatabase(from, to, quiet)
      assert.deepEqual(
        copied.filter(({ isEqual }) => !isEqual),
        [{ table: 'notes', rows: 1, targetRows: 0, isEqual: undefined }],
      )
      assert.deepEqual(await compareDatabases(from, to, quiet), copied)
      await change(foreign, 'create table users (id integer primary key)')
      await assert.rejects(copyDatabase(from, foreign, quiet), { code: 'target_not_empty', message: /users/ })
      await rowsOf(foreign, 'select id from users')
    })
  })
