import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { inTransactions, onEveryDialect, testStore } from '../../../test/support/store.ts'
import type { AppError } from '../../kernel/errors.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { DAY, HOUR, SECOND } from '../../kernel/time.ts'
import type { DomainEvent } from '../../ports/events.ts'
import type { Store } from '../../store/store.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import { heartbeatCheckJob } from './index.ts'
import { settingsOf, statusOf, type AlertHeartbeat, type HeartbeatSettings } from './model.ts'
import { fromHeartbeatBody, signalOf } from './routes.ts'
import { Heartbeats, type HeartbeatDeps } from './service.ts'

const EVERY_MINUTE = settingsOf({ everySeconds: 60, graceSeconds: 10 })
const CHECK_MS = 5 * SECOND

async function world(dialect: DialectName) {
  const clock = fakeClock()
  const { store, [Symbol.asyncDispose]: dispose } = await testStore(dialect, clock)
  const alerts: string[] = []
  const warnings: object[] = []
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
    logger: { ...silentLogger, warn: (fields: object) => void warnings.push(fields) },
    metrics: noMetrics,
    events: { append: async (tx, event) => tx.afterCommit(() => events.push(event)) },
    alerts: {
      raise: async (tx, { alarmId, severity, source }) =>
        tx.afterCommit(() => alerts.push(`${alarmId} ${severity} ${source}`)),
    },
    consoleUrl: 'https://shop.example.org/',
  } satisfies HeartbeatDeps
  const service = new Heartbeats(deps)
  const gauge = {
    set: (value: number, { name = '' }: Readonly<Record<string, string>> = {}) => void ages.set(name, value),
    clear: () => ages.clear(),
  }
  const newJob = () => heartbeatCheckJob(new Heartbeats(deps), { ...noMetrics, gauge: () => gauge })
  let job = newJob()
  const heartbeats = inTransactions(store, service, 'put', 'beat', 'remove', 'rotate')
  const check = () => job.run(AbortSignal.timeout(60_000))
  return {
    clock,
    alerts,
    warnings,
    events,
    ages,
    /** A ping by the address of a heartbeat. */
    async ping(pingUrl: string, word = '', body = '') {
      const token = pingUrl.slice(pingUrl.lastIndexOf('/') + 1)
      const signal = word === '' ? { kind: 'done' as const, exitCode: null } : signalOf(word)
      const name = await service.admitPing(token, '192.0.2.7')
      await store.write((tx) =>
        service.ping(tx, name, { token, ...signal, remoteAddress: '192.0.2.7', body }),
      )
    },
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
  async function created(w: Awaited<ReturnType<typeof world>>, settings: Partial<HeartbeatSettings> = {}) {
    const put = await w.heartbeats.put(
      'backup',
      settingsOf({ everySeconds: 60, graceSeconds: 10, ...settings }),
      'ada',
    )
    assert.ok(put.outcome === 'created')
    return put.pingUrl
  }

  test('a ping is a beat; its address is shown once, and ends when it is rotated', async () => {
    await using w = await world(dialect)
    const url = await created(w)
    assert.match(url, /^https:\/\/shop\.example\.org\/ping\/[0-9a-f]{32}$/)
    await w.pass(90 * SECOND)
    assert.deepEqual(await w.statuses(), ['missed'])
    await w.ping(url, '', 'done at last')
    assert.deepEqual([await w.statuses(), w.alerts], [['ok'], [RAISED, RECOVERED]])
    const { pingUrl } = await w.heartbeats.rotate('backup', 'ada')
    await assert.rejects(w.ping(url), { code: 'ping_not_found' })
    await assert.rejects(w.ping(url), { code: 'ping_not_found' })
    assert.deepEqual(w.warnings, [{ remote_address: '192.0.2.7' }])
    await w.ping(pingUrl, '0')
    const { items } = await w.heartbeats.pings('backup', { limit: 10 })
    assert.deepEqual(
      items.map(({ kind, exitCode, body }) => [kind, exitCode, body]),
      [
        ['exit', 0, ''],
        ['done', null, 'done at last'],
      ],
    )
  })

  test('a failure raises the alert at once; a start and a text recover nothing; the next run does', async () => {
    await using w = await world(dialect)
    const url = await created(w)
    await w.ping(url, 'start')
    w.clock.advance(7 * SECOND)
    await w.ping(url, '3', 'disk full')
    assert.deepEqual([await w.statuses(), w.alerts], [['missed'], [RAISED]])
    await w.ping(url, 'start')
    await w.ping(url, 'log', 'a text')
    assert.deepEqual(await w.statuses(), ['missed'])
    await w.ping(url, 'fail')
    assert.deepEqual(w.alerts, [RAISED, RAISED])
    w.clock.advance(2 * SECOND)
    await w.ping(url, '0')
    assert.deepEqual([await w.statuses(), w.alerts.at(-1)], [['ok'], RECOVERED])
    assert.equal((await w.heartbeats.get('backup')).durationSeconds, 0, 'of the last run that had a start')
    const { items } = await w.heartbeats.pings('backup', { limit: 10 })
    assert.deepEqual(
      items.map(({ kind, exitCode, durationSeconds }) => [kind, exitCode, durationSeconds]),
      [
        ['exit', 0, null],
        ['fail', null, 0],
        ['log', null, null],
        ['start', null, null],
        ['exit', 3, 7],
        ['start', null, null],
      ],
    )
    assert.deepEqual(
      w.events.map(({ type }) => type),
      ['heartbeat.created', 'heartbeat.missed', 'heartbeat.recovered'],
    )
  })

  test('a run that does not end in time is missed, also after a change of the settings', async () => {
    await using w = await world(dialect)
    const url = await created(w, { everySeconds: 3_600, maxRunSeconds: 30 })
    await w.ping(url, 'start')
    await w.pass(35 * SECOND)
    assert.deepEqual([await w.statuses(), w.alerts], [['missed'], [RAISED]])
    await w.ping(url)
    const { durationSeconds, dueAt } = await w.heartbeats.get('backup')
    assert.deepEqual([durationSeconds, dueAt - w.clock.now()], [35, 3_610 * SECOND])
    await w.ping(url, 'start')
    await w.heartbeats.put('backup', settingsOf({ everySeconds: 7_200, maxRunSeconds: 60 }), 'ada')
    await w.pass(65 * SECOND)
    assert.deepEqual(await w.statuses(), ['missed'])
  })

  test('a schedule counts by the clocks of its zone', async () => {
    await using w = await world(dialect)
    const settings = { everySeconds: 0, schedule: '30 2 * * *', timeZone: 'Europe/Berlin', graceSeconds: 600 }
    const url = await created(w, settings)
    const due = async () => new Date((await w.heartbeats.get('backup')).dueAt).toISOString()
    // The clock of the test stands at 02:00 UTC: 03:00 in Berlin.
    assert.equal(await due(), '2026-02-01T01:40:00.000Z')
    w.clock.advance(90 * DAY)
    await w.ping(url)
    assert.equal(await due(), '2026-05-02T00:40:00.000Z')
  })

  test('the last 100 pings are kept, and more than 30 at once are refused', async () => {
    await using w = await world(dialect)
    const url = await created(w)
    for (let sent = 0; sent < 105; sent++) {
      w.clock.advance(SECOND)
      await w.ping(url, '', String(sent))
    }
    const { items } = await w.heartbeats.pings('backup', { limit: 1_000 })
    assert.deepEqual([items.length, items[0]?.body, items.at(-1)?.body], [100, '104', '5'])
    w.clock.advance(SECOND)
    for (let sent = 0; sent < 30; sent++) await w.ping(url)
    await assert.rejects(w.ping(url), { code: 'rate_limited', retryAfterSeconds: 1 })
    await w.heartbeats.remove('backup', 'ada')
    await assert.rejects(w.ping(url), { code: 'ping_not_found' })
  })

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
  assert.throws(() => fromHeartbeatBody({ every_seconds: 60, source: 'cron ${token}' }, 0), {
    code: 'forbidden_variable',
  })
  assert.deepEqual(fromHeartbeatBody({ every_seconds: 60 }, 0), settingsOf({ everySeconds: 60 }))
})

const REFUSED = [
  [{}, 'every_seconds', 'required_one_of'],
  [{ every_seconds: 60, schedule: '* * * * *' }, 'every_seconds', 'left_out_with'],
  [{ every_seconds: 60, time_zone: 'UTC' }, 'time_zone', 'left_out_without'],
  [{ schedule: '* * * * *', time_zone: 'Mars/Base' }, 'time_zone', 'not_a_time_zone'],
  [{ schedule: 'at night' }, 'schedule', 'not_a_schedule'],
  [{ schedule: '* * * * * *' }, 'schedule', 'not_a_schedule'],
  [{ schedule: '0 0 30 2 *' }, 'schedule', 'not_a_schedule'],
] as const

for (const [body, path, code] of REFUSED)
  test(`a heartbeat with ${JSON.stringify(body)} is refused`, () => {
    assert.throws(
      () => fromHeartbeatBody(body, 0),
      (error: AppError) => error.details?.[0]?.path === path && error.details[0].code === code,
    )
  })

test('a word of a path is a signal', () => {
  assert.deepEqual(signalOf('255'), { kind: 'exit', exitCode: 255 })
  assert.deepEqual(signalOf('fail'), { kind: 'fail', exitCode: null })
})
