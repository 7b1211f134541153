import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { temporaryDirectory } from '../../test/support/platform.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLogger } from '../kernel/logger.ts'
import { noMetrics } from '../kernel/metrics.ts'
import type { Migration } from '../store/migrations/migration.ts'
import { migrate, MIGRATIONS } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { migrateDatabaseFile } from './migration-backup.ts'

const FIRST = MIGRATIONS.slice(0, 2)
const FORMER = MIGRATIONS.slice(0, 3)

async function world(t: TestContext) {
  const directory = temporaryDirectory()
  const database = { kind: 'sqlite', path: join(directory.path, 'platform.db') } as const
  const parts = { readOnly: false, clock: systemClock, metrics: noMetrics, logger: silentLogger }
  const open = () => openStore({ database, ...parts })
  const store = await open()
  t.after(async () => {
    await store.close()
    directory[Symbol.dispose]()
  })
  const config = { database, backupBeforeMigration: true }
  const backup = `${database.path}.before-migration`
  return {
    database,
    open,
    store,
    backup,
    copies: () => readdirSync(directory.path).filter((name) => name.includes('before-migration')),
    upTo: (migrations: typeof MIGRATIONS, more: { store?: Store; backupBeforeMigration?: boolean } = {}) =>
      migrateDatabaseFile(more.store ?? store, {
        config: { ...config, ...more },
        clock: systemClock,
        migrations,
      }),
    stepsIn: () => {
      using copy = new DatabaseSync(backup, { readOnly: true })
      return copy.prepare('select count(*) as n from schema_migrations').get()?.['n']
    },
  }
}

test('a migration begins with a copy, which the next migration replaces', async (t) => {
  const { upTo, copies, stepsIn, backup } = await world(t)
  assert.equal((await upTo(FIRST)).backup, undefined)
  assert.deepEqual(copies(), [], 'a new database')
  assert.deepEqual(await upTo(FORMER), { steps: [FORMER[2]?.name], backup })
  assert.equal(stepsIn(), 2)
  assert.equal((await upTo(FORMER)).backup, undefined)
  assert.equal(stepsIn(), 2, 'nothing was migrated')
  await upTo(MIGRATIONS)
  assert.deepEqual([copies(), stepsIn()], [['platform.db.before-migration'], 3])
})

test('a copy that another process has outrun is dropped', async (t) => {
  const { store, upTo, copies } = await world(t)
  await upTo(FIRST)
  const snapshot: Store['snapshot'] = async (path) => {
    await migrate(store, systemClock, FORMER)
    await store.snapshot(path)
  }
  const slow = new Proxy(store, {
    get: (target, name) => (name === 'snapshot' ? snapshot : (Reflect.get(target, name) as unknown)),
  })
  assert.deepEqual(await upTo(FORMER, { store: slow }), { steps: [], backup: undefined })
  assert.deepEqual(copies(), [])
})

test('what a killed migration has left is removed by the next one', async (t) => {
  const { upTo, copies, backup } = await world(t)
  await upTo(FIRST)
  writeFileSync(`${backup}.0198.0199.partial`, 'part of a copy')
  await upTo(FORMER)
  assert.deepEqual(copies(), ['platform.db.before-migration'])
})

test('an upgrade that fails again and again makes one copy, until somebody writes to the database', async (t) => {
  const { database, upTo, copies, backup, store, open } = await world(t)
  await upTo(FIRST)
  await store.close()
  const fails: Migration = {
    name: '0003-fails',
    breaking: false,
    async up({ db }) {
      await sql`create table of_the_upgrade (id text)`.execute(db)
      throw new Error('it fails')
    },
  }
  const failing = [...FIRST, fails]
  const copiedAs = async () => {
    const tried = await open()
    await assert.rejects(upTo(failing, { store: tried }), /it fails/)
    await tried.close()
    return statSync(backup, { bigint: true }).ino
  }
  const first = await copiedAs()
  assert.deepEqual([await copiedAs(), await copiedAs()], [first, first])
  const former = new DatabaseSync(database.path)
  former.exec("insert into leases (name, holder, expires_at) values ('of the former release', 'x', 1)")
  former.close()
  const second = await copiedAs()
  assert.notEqual(second, first)
  rmSync(backup)
  assert.notEqual(await copiedAs(), second)
  const mark = `${database.path}.migrating`
  assert.ok(existsSync(mark))
  const last = await open()
  t.after(() => last.close())
  assert.equal((await upTo(FORMER, { store: last })).backup, backup)
  assert.deepEqual([existsSync(mark), copies()], [false, ['platform.db.before-migration']])
})

test('no copy is made with database.backup_before_migration = false', async (t) => {
  const { upTo, copies } = await world(t)
  await upTo(FIRST)
  assert.equal((await upTo(FORMER, { backupBeforeMigration: false })).steps.length, 1)
  assert.deepEqual(copies(), [])
})

test('a copy that does not fit stops the migration with what to do', async (t) => {
  const { store, upTo, copies } = await world(t)
  await upTo(FIRST)
  const huge = { ...store.capabilities, databaseBytes: sql<number>`9007199254740991` }
  const large = new Proxy(store, {
    get: (target, name) => (name === 'capabilities' ? huge : (Reflect.get(target, name) as unknown)),
  })
  await assert.rejects(upTo(FORMER, { store: large }), (error: Error) => {
    assert.match(error.message, /Make room; or .*database\.backup_before_migration = false\.$/)
    return 'code' in error && error.code === 'no_space'
  })
  assert.deepEqual(copies(), [])
  assert.equal((await upTo(FORMER)).steps.length, 1)
})
