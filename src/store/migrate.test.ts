import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../test/support/clock.ts'
import { emptyDatabase, onEveryDialect } from '../../test/support/store.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLogger } from '../kernel/logger.ts'
import { noMetrics } from '../kernel/metrics.ts'
import {
  lastMigrationAt,
  migrate,
  migrateForCopy,
  MIGRATIONS,
  requireCurrentSchema,
  schemaStatus,
} from './migrate.ts'
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

const ALERTS_BEFORE = [
  ['message.dead:dead', 'firing'],
  ['message.dead:redriven', 'firing'],
  ['message.dead:pruned', 'firing'],
  ['command.incomplete:kept', 'firing'],
  ['command.incomplete:gone', 'firing'],
  ['heartbeat.missed:a', 'acknowledged'],
  ['heartbeat.missed:f', 'frozen'],
  ['other', 'firing'],
] as const

onEveryDialect('the schema', (dialect) => {
  const world = async () => {
    const { address, drop } = await emptyDatabase(dialect)
    const open = () =>
      openStore({ database: address, clock: systemClock, metrics: noMetrics, logger: silentLogger })
    return { open, store: await open(), drop }
  }

  test('a step that the database refuses is named, and nothing is changed', async (t) => {
    const { store, drop } = await world()
    t.after(async () => (await store.close(), await drop()))
    await migrate(store, systemClock, [step('0001-a')])
    const failing = { ...step('0001-a'), name: '0003-c' }
    await assert.rejects(migrate(store, systemClock, [step('0001-a'), step('0002-b'), failing]), {
      code: 'migration_failed',
      message:
        /^The migration 0003-c has failed, and nothing was changed: .*made_by_0001_a.* Install the former release/,
    })
    const { applied } = await schemaStatus(store, { migrations: [step('0001-a'), step('0002-b')] })
    assert.deepEqual(
      applied.map(({ name }) => name),
      ['0001-a'],
    )
  })

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

  test('the schema for a copy is for nobody else', async (t) => {
    const { store, drop } = await world()
    t.after(async () => (await store.close(), await drop()))
    await migrateForCopy(store, fakeClock())
    await assert.rejects(schemaStatus(store), { code: 'copy_unfinished' })
    assert.deepEqual((await schemaStatus(store, { allowsCopy: true })).pending, [])
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
      (await schemaStatus(store, { migrations: [step('0001-a')] })).unknown.map(({ name }) => name),
      ['0002-b'],
    )
    await migrate(store, systemClock, [step('0001-a'), step('0002-b'), step('0003-c', true)])
    await assert.rejects(migrate(store, systemClock, [step('0001-a'), step('0002-b')]), {
      code: 'schema_too_new',
      message: /0003-c/,
    })
  })

  test('a payment of an older release whose refund has failed needs a person, unless somebody has resolved it', async (t) => {
    const { store, drop } = await world()
    t.after(async () => (await store.close(), await drop()))
    const older = MIGRATIONS.findIndex(({ name }) => name === '0044-failed-refunds')
    await migrate(store, systemClock, MIGRATIONS.slice(0, older))
    const payment = { channel: 'shop', status: 'paid', currency: 'CNY', parameters: '', created_by: 'ada' }
    const cents = {
      amount_cents: 100,
      reserved_cents: 0,
      is_closing: 0,
      attempts: 0,
      created_at: 1,
      queued_at: 1,
    }
    const histories = {
      failed: ['refunded', 'refund_failed'],
      resolved: ['refund_failed', 'resolved'],
      again: ['refund_failed', 'resolved', 'refund_unclear'],
      refunded: ['refund_failed', 'refunded'],
      fine: ['paid'],
    }
    await store.write(async ({ db }) => {
      for (const [id, changes] of Object.entries(histories)) {
        const refunded_cents = id === 'refunded' ? 100 : 0
        await db
          .insertInto('payments')
          .values({ ...payment, ...cents, id, number: id, refunded_cents })
          .execute()
        for (const change of changes)
          await db
            .insertInto('payment_history')
            .values({ payment_id: id, at: 1, change, actor: 'ada' })
            .execute()
      }
    })
    await migrate(store, systemClock)
    const found = store.read.db
      .selectFrom('payments')
      .select('id')
      .where('has_failed_refund', '=', 1)
      .orderBy('id')
    assert.deepEqual(
      (await found.execute()).map((row) => Object.values(row)[0]),
      ['again', 'failed'],
    )
  })

  test('alerts of an older release that nothing ends any more end after the upgrade', async (t) => {
    const { store, drop } = await world()
    t.after(async () => (await store.close(), await drop()))
    const clock = fakeClock()
    const now = clock.now()
    const older = MIGRATIONS.findIndex(({ name }) => name === '0024-alert-repetitions')
    await migrate(store, clock, MIGRATIONS.slice(0, older))
    await store.write(async ({ db }) => {
      const status = { subject: 's', payload: '{}', headers: '{}', attempts: 1, created_at: now }
      for (const [id, state] of [
        ['dead', 'dead'],
        ['redriven', 'pending'],
      ] as const)
        await db
          .insertInto('messages')
          .values({ ...status, id, status: state })
          .execute()
      const execution = { command_id: 'c', params: '{}', requested_by: 'ada', approvals: '[]', attempts: 1 }
      await db
        .insertInto('command_executions')
        .values({ ...execution, id: 'kept', status: 'incomplete', created_at: now, queued_at: now })
        .execute()
      const alert = { source: 's', title: 't', body: '', level: 4, count: 1, first_at: now, last_at: now }
      for (const [alarm, state] of ALERTS_BEFORE)
        await db
          .insertInto('alerts')
          .values({ ...alert, id: alarm, identity: alarm, alarm_id: alarm, weight: 4, status: state })
          .execute()
    })
    await migrate(store, clock)
    const columns = ['alarm_id', 'expires_at', 'repeat_every_ms', 'repeat_at', 'due_at'] as const
    const rows = await store.read.db.selectFrom('alerts').select(columns).orderBy('alarm_id').execute()
    const day = 86_400_000
    const next = now + day
    assert.deepEqual(
      rows.map((row) => Object.values(row)),
      [
        ['command.incomplete:gone', now, day, next, now],
        ['command.incomplete:kept', null, day, next, next],
        ['heartbeat.missed:a', null, day, null, null],
        ['heartbeat.missed:f', null, day, null, null],
        ['message.dead:dead', null, day, next, next],
        ['message.dead:pruned', now, day, next, now],
        ['message.dead:redriven', now, day, next, now],
        ['other', null, null, null, null],
      ],
    )
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
