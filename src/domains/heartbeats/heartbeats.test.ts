import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { inTransactions, onEveryDialect, testStore } from '../../../test/support/store.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { DAY, HOUR, SECOND } from '../../kernel/time.ts'
import type { DomainEvent } from '../../ports/events.ts'
import type { Store } from '../../store/store.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import { heartbeatCheckJob } from './jobs.ts'
import { settingsOf, statusOf, type AlertHeartbeat } from './model.ts'
import { fromHeartbeatBody } from './schemas.ts'
import { Heartbeats, type HeartbeatDeps } from './service.ts'

const EVERY_MINUTE = settingsOf({ everySeconds: 60, graceSeconds: 10 })
const CHECK_MS = 5 * SECOND

async function world(dialect: DialectName) {
  const clock = fakeClock()
  const { store, [Symbol.asyncDispose]: dispose } = await testStore(dialect, clock)
  const alerts: string[] = []
  const events: DomainEvent<AlertHeartbeat>[] = []
  const ages = new Map<string, number>()
  let isAway = false
  const guarded: Store = {
    ...store,
    write: (work, options) => (isAway ? Promise.reject(new Error('away')) : store.write(work, options)),
  }
  const deps = {
    store: guarded,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    events: { append: async (tx, event) => tx.afterCommit(() => events.push(event)) },
    alerts: {
      raise: async (tx, { alarmId, severity, source }) =>
        tx.afterCommit(() => alerts.push(`${alarmId} ${severity} ${source}`)),
    },
  } satisfies HeartbeatDeps
  const service = new Heartbeats(deps)
  const gauge = {
    set: (value: number, { name = '' }: Readonly<Record<string, string>> = {}) => void ages.set(name, value),
    clear: () => ages.clear(),
  }
  const newJob = () => heartbeatCheckJob(new Heartbeats(deps), { ...noMetrics, gauge: () => gauge })
  let job = newJob()
  const heartbeats = inTransactions(store, service, 'put', 'beat', 'remove')
  const check = () => job.run(AbortSignal.timeout(60_000))
  return {
    clock,
    alerts,
    events,
    ages,
    heartbeats,
    check,
    /** The database does not take writes, or does again. */
    fail: () => void (isAway = true),
    heal: () => void (isAway = false),
    /** The checks of a worker whose clock is ahead. */
    anotherWorker(aheadMs: number) {
      const ahead = { now: () => clock.now() + aheadMs, monotonic: () => clock.monotonic() }
      const worker = new Heartbeats({ ...deps, clock: ahead })
      return () => worker.checkDue()
    },
    /** The next check is that of another process. */
    restart() {
      job = newJob()
    },
    /** Lets time pass while a worker runs. */
    async pass(milliseconds: number) {
      for (let passed = 0; passed < milliseconds; passed += CHECK_MS) {
        clock.advance(CHECK_MS)
        await check()
      }
    },
    statuses: async () => (await heartbeats.list({ limit: 100 })).items.map(statusOf),
    [Symbol.asyncDispose]: dispose,
  }
}

const RAISED = 'heartbeat.missed:backup HIGH platform.heartbeats'
const RECOVERED = 'heartbeat.missed:backup CLOSE platform.heartbeats'

onEveryDialect('heartbeats', (dialect) => {
  test('the first heartbeat is not postponed by the time before it', async () => {
    await using w = await world(dialect)
    await w.pass(60 * SECOND)
    const { heartbeat } = await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    w.clock.advance(3 * SECOND)
    await w.check()
    const [listed] = (await w.heartbeats.list({ limit: 1 })).items
    assert.equal(listed?.dueAt, heartbeat.dueAt)
  })

  test('every change has an event with the heartbeat; a beat in time has none', async () => {
    await using w = await world(dialect)
    await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    await w.check()
    await w.heartbeats.beat('backup', 'srv')
    await w.pass(90 * SECOND)
    await w.heartbeats.beat('backup', 'srv')
    await w.heartbeats.put('backup', settingsOf({ everySeconds: 30 }), 'eve')
    await w.heartbeats.remove('backup', 'ann')
    assert.deepEqual(
      w.events.map(({ type, subject, data }) => [type, subject, statusOf(data), data.updatedBy]),
      [
        ['heartbeat.created', 'backup', 'waiting', 'ada'],
        ['heartbeat.missed', 'backup', 'missed', 'ada'],
        ['heartbeat.recovered', 'backup', 'ok', 'ada'],
        ['heartbeat.changed', 'backup', 'ok', 'eve'],
        ['heartbeat.deleted', 'backup', 'ok', 'ann'],
      ],
    )
  })

  test('without a first beat, the time since the creation counts, and the alert is raised once', async () => {
    await using w = await world(dialect)
    await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    await w.check()
    await w.pass(65 * SECOND)
    assert.deepEqual([w.alerts, await w.statuses()], [[], ['waiting']])
    await w.pass(30 * SECOND)
    assert.deepEqual([w.alerts, await w.statuses()], [[RAISED], ['missed']])
    await w.pass(60 * SECOND)
    assert.deepEqual(w.alerts, [RAISED])
  })

  test('beats in time raise no alert; a late beat recovers it, and the time until the next beat begins', async () => {
    await using w = await world(dialect)
    await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    await w.check()
    for (let beats = 0; beats < 3; beats++) {
      await w.pass(60 * SECOND)
      await w.heartbeats.beat('backup', 'srv')
    }
    assert.deepEqual([w.alerts, await w.statuses()], [[], ['ok']])
    await w.pass(80 * SECOND)
    assert.deepEqual(w.alerts, [RAISED])
    await w.heartbeats.beat('backup', 'srv')
    await w.heartbeats.beat('backup', 'srv')
    assert.deepEqual([w.alerts, await w.statuses()], [[RAISED, RECOVERED], ['ok']])
    await w.pass(80 * SECOND)
    assert.deepEqual(w.alerts, [RAISED, RECOVERED, RAISED])
  })

  test('the time in which no worker ran does not count', async () => {
    await using w = await world(dialect)
    await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    await w.check()
    await w.pass(40 * SECOND)
    w.clock.advance(3 * DAY)
    w.restart()
    await w.check()
    assert.deepEqual(w.alerts, [])
    await w.pass(25 * SECOND)
    assert.deepEqual(w.alerts, [], '65 seconds')
    await w.pass(5 * SECOND)
    assert.deepEqual(w.alerts, [RAISED], '70 seconds')
  })

  test('a worker that was away for nine seconds reports nothing that was due meanwhile', async () => {
    await using w = await world(dialect)
    await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    await w.check()
    await w.pass(65 * SECOND)
    w.clock.advance(9 * SECOND)
    w.restart()
    await w.check()
    assert.deepEqual(w.alerts, [])
    await w.heartbeats.beat('backup', 'srv')
    await w.pass(60 * SECOND)
    assert.deepEqual(w.alerts, [])
  })

  for (const [what, jumpMs] of [
    ['eight hours back', -8 * HOUR],
    ['eight hours ahead', 8 * HOUR],
    ['a day ahead', DAY],
  ] as const)
    test(`a clock that is set ${what} neither delays nor raises an alert`, async () => {
      await using w = await world(dialect)
      await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
      await w.check()
      await w.pass(40 * SECOND)
      w.clock.jump(jumpMs)
      await w.pass(25 * SECOND)
      assert.deepEqual(w.alerts, [], '65 seconds')
      await w.pass(10 * SECOND)
      assert.deepEqual(w.alerts, [RAISED], '75 seconds')
    })

  test('the time in which the database was away does not count', async () => {
    await using w = await world(dialect)
    await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    await w.check()
    w.fail()
    w.clock.advance(20 * SECOND)
    await assert.rejects(w.check())
    w.clock.advance(5 * 60 * SECOND)
    w.heal()
    await w.check()
    assert.deepEqual(w.alerts, [])
  })

  test('workers whose clocks differ by some seconds do not delay the alert', async () => {
    await using w = await world(dialect)
    await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    const other = w.anotherWorker(8 * SECOND)
    for (let passed = 0; passed < 80 * SECOND; passed += CHECK_MS) {
      w.clock.advance(CHECK_MS)
      await w.check()
      await other()
    }
    assert.deepEqual(w.alerts, [RAISED])
  })

  test('a worker that is late does not delay the alert', async () => {
    await using w = await world(dialect)
    await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    await w.check()
    w.clock.advance(71 * SECOND)
    await w.check()
    assert.deepEqual(w.alerts, [RAISED])
  })

  test('a beat that came while no worker ran counts from the start of the worker', async () => {
    await using w = await world(dialect)
    await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    await w.check()
    w.clock.advance(HOUR)
    await w.heartbeats.beat('backup', 'srv')
    w.clock.advance(HOUR)
    w.restart()
    await w.check()
    await w.pass(65 * SECOND)
    assert.deepEqual(w.alerts, [])
    await w.pass(5 * SECOND)
    assert.deepEqual(w.alerts, [RAISED])
  })

  test('the same settings change nothing; with other settings the time until the next beat begins again', async () => {
    await using w = await world(dialect)
    const { heartbeat } = await w.heartbeats.put('backup', settingsOf({ everySeconds: 3_600 }), 'ada')
    await w.check()
    await w.pass(120 * SECOND)
    assert.deepEqual(await w.heartbeats.put('backup', settingsOf({ everySeconds: 3_600 }), 'bob'), {
      heartbeat,
      outcome: 'unchanged',
    })
    const changed = await w.heartbeats.put(
      'backup',
      { ...EVERY_MINUTE, severity: 'INFO', source: 'x' },
      'bob',
    )
    assert.deepEqual(
      [changed.outcome, changed.heartbeat.updatedBy, changed.heartbeat.dueAt - w.clock.now()],
      ['changed', 'bob', 70 * SECOND],
    )
    await w.pass(65 * SECOND)
    assert.deepEqual(w.alerts, [])
    await w.pass(5 * SECOND)
    assert.deepEqual(w.alerts, ['heartbeat.missed:backup INFO x'])
  })

  test('deleting a missed heartbeat recovers its alert; deleting another one raises none', async () => {
    await using w = await world(dialect)
    await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    await w.heartbeats.put('other', settingsOf({ everySeconds: 600 }), 'ada')
    await w.check()
    await w.pass(75 * SECOND)
    await w.heartbeats.remove('backup', 'ada')
    await w.heartbeats.remove('other', 'ada')
    assert.deepEqual([w.alerts, await w.statuses()], [[RAISED, RECOVERED], []])
  })

  test('an unknown name is refused', async () => {
    await using w = await world(dialect)
    await assert.rejects(w.heartbeats.beat('nobody', 'srv'), { code: 'heartbeat_not_found' })
    await assert.rejects(w.heartbeats.remove('nobody', 'ada'), { code: 'heartbeat_not_found' })
  })

  test('the gauge has the age of each heartbeat, and none of a deleted one', async () => {
    await using w = await world(dialect)
    await w.heartbeats.put('backup', EVERY_MINUTE, 'ada')
    await w.heartbeats.put('other', EVERY_MINUTE, 'ada')
    await w.pass(10 * SECOND)
    await w.heartbeats.beat('other', 'srv')
    await w.pass(5 * SECOND)
    assert.deepEqual(
      w.ages,
      new Map([
        ['backup', 15],
        ['other', 5],
      ]),
    )
    await w.heartbeats.remove('backup', 'ada')
    await w.check()
    assert.deepEqual(w.ages, new Map([['other', 5]]))
  })
})

test('a source with a variable that stands for a secret is refused', () => {
  assert.throws(() => fromHeartbeatBody({ every_seconds: 60, source: 'cron ${token}' }), {
    code: 'forbidden_variable',
  })
  assert.deepEqual(fromHeartbeatBody({ every_seconds: 60 }), settingsOf({ everySeconds: 60 }))
})
