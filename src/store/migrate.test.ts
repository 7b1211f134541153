import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../test/support/clock.ts'
import { emptyDatabase, onEveryDialect } from '../../test/support/store.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLogger } from '../kernel/logger.ts'
import { noMetrics } from '../kernel/metrics.ts'
import { lastMigrationAt, migrate, MIGRATIONS, requireCurrentSchema, schemaStatus } from './migrate.ts'
import type { Migration } from './migrations/migration.ts'
import { openStore } from './open.ts'

const step = (name: string, breaking = false): Migration => ({
  name,
  breaking,
  up: async ({ db }) => {
    await db.schema
      .createTable(`made_by_${name.replaceAll('-', '_')}`)
      .addColumn('id', 'text')
      .execute()
  },
})

onEveryDialect('the schema', (dialect) => {
  const world = async () => {
    const { address, drop } = await emptyDatabase(dialect)
    const open = () =>
      openStore({ database: address, clock: systemClock, metrics: noMetrics, logger: silentLogger })
    return { open, store: await open(), drop }
  }

  test('an empty database gets every step, once', async (t) => {
    const { store, drop } = await world()
    t.after(async () => (await store.close(), await drop()))
    const clock = fakeClock()
    assert.deepEqual(
      await migrate(store, clock),
      MIGRATIONS.map(({ name }) => name),
    )
    assert.deepEqual(await migrate(store, clock), [])
    assert.equal(await lastMigrationAt(store), clock.now())
    const { applied, pending, unknown } = await schemaStatus(store)
    assert.deepEqual([pending, unknown], [[], []])
    assert.deepEqual(applied[0], { name: MIGRATIONS[0]?.name, breaking: false, appliedAt: clock.now() })
  })

  test('each step is applied once when several processes start at a time', async (t) => {
    const { store, open, drop } = await world()
    const others = await Promise.all([open(), open()])
    t.after(async () => {
      for (const each of [store, ...others]) await each.close()
      await drop()
    })
    const done = await Promise.all([store, ...others].map((each) => migrate(each, systemClock)))
    assert.deepEqual(
      done.flat(),
      MIGRATIONS.map(({ name }) => name),
    )
  })

  test('a step that fails undoes itself and the steps before it', async (t) => {
    const { store, drop } = await world()
    t.after(async () => (await store.close(), await drop()))
    const broken: Migration = {
      ...step('0002-broken'),
      up: async (tx) => {
        await step('0002-broken').up(tx, 0)
        throw new Error('half way')
      },
    }
    await assert.rejects(migrate(store, systemClock, [step('0001-good'), broken]), /half way/)
    assert.deepEqual(await store.read.db.introspection.getTables(), [])
    assert.deepEqual(await migrate(store, systemClock, [step('0001-good')]), ['0001-good'])
  })

  test('an unknown step is accepted unless it is breaking', async (t) => {
    const { store, drop } = await world()
    t.after(async () => (await store.close(), await drop()))
    await migrate(store, systemClock, [step('0001-a'), step('0002-b')])
    assert.deepEqual(
      (await schemaStatus(store, [step('0001-a')])).unknown.map(({ name }) => name),
      ['0002-b'],
    )
    await migrate(store, systemClock, [step('0001-a'), step('0002-b'), step('0003-c', true)])
    await assert.rejects(migrate(store, systemClock, [step('0001-a'), step('0002-b')]), {
      code: 'schema_too_new',
      message: /0003-c/,
    })
  })

  test('a read-only process refuses an older schema', async (t) => {
    const { store, drop } = await world()
    t.after(async () => (await store.close(), await drop()))
    await assert.rejects(requireCurrentSchema(store), {
      code: 'schema_outdated',
      message: /platform db migrate/,
    })
    await migrate(store, systemClock)
    await requireCurrentSchema(store)
  })
})
