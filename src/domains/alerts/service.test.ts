import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../kernel/errors.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics, type Labels, type Metrics } from '../../kernel/metrics.ts'
import type { Page, PagePosition, PageRequest } from '../../kernel/page.ts'
import { anyAlarmId, anyAlerts } from '../../../test/support/declared-alerts.ts'
import {
  ACKNOWLEDGE_FOR_MS,
  alertWorld,
  FAILED,
  noNotifications,
  viewOf,
  type AlertWorld,
} from '../../../test/support/alerts.ts'
import { inTransactions, onEveryDialect } from '../../../test/support/store.ts'
import type { OrderDeps } from '../orders/index.ts'
import { SEVERITIES, severityOf, type AlertView, type Report } from './model.ts'
import type { PlatformAlert } from '../../ports/alerts.ts'
import { HOUR, MINUTE } from '../../kernel/time.ts'
import { Alerts, type AlertDeps } from './service.ts'

const FIRST_PAGE: PageRequest = { limit: 100 }

/** Reports four swings. */
async function freeze(world: AlertWorld): Promise<void> {
  for (const level of ['CRITICAL', 'CLOSE', 'CRITICAL', 'CLOSE', 'CRITICAL'] as const)
    await world.report({ ...FAILED, level })
}

/** The alerts without `seq`, which a row of the list also has. */
async function allOf(alerts: Pick<Alerts, 'list'>): Promise<AlertView[]> {
  const { items } = await alerts.list({}, FIRST_PAGE)
  return (items as (AlertView & { seq?: number })[]).map(({ seq: _seq, ...alert }) => alert)
}

onEveryDialect('reporting an alert', (dialect) => {
  it('creates a new one and emits an event', async () => {
    await using world = await alertWorld(dialect)
    const { alert, outcome } = await world.report(FAILED)
    const now = world.clock.now()
    assert.equal(outcome, 'new')
    assert.deepEqual(alert, {
      id: alert.id,
      alarmId: 'backup.failed',
      source: 'platform.backup',
      title: 'Backup failed',
      body: 'No space left.',
      level: 3,
      weight: 4,
      serverAddr: '192.0.2.10',
      status: 'firing',
      count: 1,
      firstAt: now,
      lastAt: now,
      recoveredAt: null,
      labels: null,
      runbookUrl: null,
      startsAt: now,
      generatorUrl: null,
      version: 1,
    })
    assert.deepEqual(await world.alerts.get(alert.id), alert)
    assert.deepEqual(world.events, [{ type: 'alert.raised', subject: alert.id, data: alert }])
  })

  it('counts a repetition and emits no event', async () => {
    await using world = await alertWorld(dialect)
    const first = await world.report(FAILED)
    world.clock.advance(1_000)
    const again = await world.report(FAILED)
    assert.equal(again.outcome, 'known')
    assert.deepEqual(again.alert, {
      ...first.alert,
      count: 2,
      lastAt: first.alert.lastAt + 1_000,
      version: 2,
    })
    assert.deepEqual(await allOf(world.alerts), [again.alert])
    assert.deepEqual(world.types(), ['alert.raised'])
  })

  it('emits an event when the weight increases, and none when it decreases', async () => {
    await using world = await alertWorld(dialect)
    for (const level of ['WARNING', 'HIGH', 'HIGH', 'WARNING'] as const)
      await world.report({ ...FAILED, level })
    assert.deepEqual(
      world.events.map(({ data }) => severityOf(data.weight)),
      ['WARNING', 'HIGH'],
    )
    assert.equal((await allOf(world.alerts))[0]?.level, 2)
  })

  it('gives HIGH level 4 first and level 3 when repeated', async () => {
    await using world = await alertWorld(dialect)
    const levels: number[] = []
    for (let i = 0; i < 3; i++) levels.push((await world.report({ ...FAILED, level: 'HIGH' })).alert.level)
    assert.deepEqual(levels, [4, 3, 3])
  })

  it('recovers with CLOSE, fires again after it, and continues the count', async () => {
    await using world = await alertWorld(dialect)
    const { alert: first } = await world.report(FAILED)
    world.clock.advance(1_000)
    const { alert: closed } = await world.report({
      ...FAILED,
      level: 'CLOSE',
      title: 'Backup works again',
    })
    world.clock.advance(1_000)
    const { alert: again } = await world.report(FAILED)
    assert.deepEqual(
      [closed.status, closed.recoveredAt, closed.count],
      ['recovered', first.firstAt + 1_000, 1],
    )
    const at = first.firstAt + 2_000
    assert.deepEqual(again, { ...first, count: 2, lastAt: at, startsAt: at, version: 3 })
    assert.deepEqual(world.types(), ['alert.raised', 'alert.recovered', 'alert.raised'])
    assert.deepEqual(world.events[1]?.data, closed)
  })

  it('stores the recovery of an unknown alert as a recovered alert', async () => {
    await using world = await alertWorld(dialect)
    const { alert, outcome } = await world.report({ ...FAILED, level: 5 })
    assert.deepEqual([outcome, alert.status, alert.count], ['new', 'recovered', 0])
    await world.report({ ...FAILED, level: 5 })
    assert.deepEqual(world.types(), ['alert.recovered'])
  })

  it('leaves an acknowledged alert acknowledged, and a frozen one frozen without events', async () => {
    await using world = await alertWorld(dialect)
    const { alert } = await world.report(FAILED)
    await world.alerts.acknowledge(alert.id, null, 'anna')
    assert.equal((await world.report(FAILED)).alert.status, 'acknowledged')
    await freeze(world)
    const { length } = world.events
    assert.equal((await world.report({ ...FAILED, level: 'CRITICAL' })).alert.status, 'frozen')
    assert.equal((await world.report({ ...FAILED, level: 'CLOSE' })).alert.status, 'frozen')
    assert.equal(world.events.length, length)
  })

  it('counts every report in the metrics by its severity', async () => {
    const counted: [string, Labels | undefined][] = []
    const metrics: Metrics = {
      ...noMetrics,
      counter: ({ name }) => ({
        increment: (labels, by = 1) => void (by > 0 && counted.push([name, labels])),
      }),
    }
    await using world = await alertWorld(dialect, { metrics })
    for (const level of ['ERROR', 'ERROR', 5] as const) await world.report({ ...FAILED, level })
    const by = (name: string) => counted.flatMap(([each, labels]) => (each === name ? [labels] : []))
    assert.deepEqual(
      by('alerts_reported_total'),
      ['ERROR', 'ERROR', 'CLOSE'].map((severity) => ({ severity })),
    )
    assert.deepEqual(by('alert_changes_total'), [{ change: 'raised' }, { change: 'recovered' }])
  })
})

onEveryDialect('the identity of an alert', (dialect) => {
  const UNNAMED: Report = { ...FAILED, alarmId: null }

  it('is its alarm id, whatever the source', async () => {
    await using world = await alertWorld(dialect)
    await world.report(FAILED)
    const other = { source: 'platform.backup.standby', title: 'Other', body: 'Other.', serverAddr: null }
    const { alert, outcome } = await world.report({ ...FAILED, ...other })
    assert.equal(outcome, 'known')
    assert.deepEqual({ ...alert, ...other }, alert)
    assert.deepEqual(await allOf(world.alerts), [alert])
  })

  it('is source, title and address without an alarm id, and never the body', async () => {
    await using world = await alertWorld(dialect)
    await world.report(UNNAMED)
    assert.equal((await world.report({ ...UNNAMED, body: 'Other.' })).alert.count, 2)
  })

  it('differs for reports that differ in any of its fields', async () => {
    await using world = await alertWorld(dialect)
    const different: Report[] = [
      FAILED,
      UNNAMED,
      { ...UNNAMED, source: 'platform' },
      { ...UNNAMED, title: 'Backup' },
      { ...UNNAMED, serverAddr: null },
      { ...UNNAMED, serverAddr: 'null' },
      { ...UNNAMED, source: 'a', title: 'b","c' },
      { ...UNNAMED, source: 'a","b', title: 'c' },
      { ...UNNAMED, alarmId: 'sha256:x' },
      { ...UNNAMED, alarmId: 'BACKUP.FAILED' },
    ]
    for (const report of different) assert.equal((await world.report(report)).outcome, 'new')
    for (const report of different) assert.equal((await world.report(report)).alert.count, 2)
  })

  it('works with fields of the maximum length', async () => {
    await using world = await alertWorld(dialect)
    // Four bytes for each character, and hardly compressible: the largest possible entry of an index.
    const long = (length: number) =>
      Array.from({ length }, (_, index) => String.fromCodePoint(0x20000 + ((index * 7_919) % 0xa000))).join(
        '',
      )
    const report = {
      ...UNNAMED,
      source: long(128),
      title: long(256),
      serverAddr: long(256),
      body: long(4_096),
    }
    const { alert } = await world.report(report)
    assert.deepEqual(await world.alerts.get(alert.id), alert)
    const named = await world.report({ ...report, alarmId: long(128) })
    assert.equal(named.outcome, 'new')
  })
})

onEveryDialect('recovering an alert manually', (dialect) => {
  it('recovers it and emits an event', async () => {
    await using world = await alertWorld(dialect)
    const { alert } = await world.report(FAILED)
    world.clock.advance(1_000)
    const next = viewOf(await world.alerts.recover(alert.id, 'anna'))
    const recoveredAt = alert.lastAt + 1_000
    const closed = { level: 5, weight: 0, status: 'recovered', recoveredAt, version: 2 }
    assert.deepEqual(next, { ...alert, ...closed })
    assert.deepEqual(await world.alerts.get(alert.id), next)
    assert.deepEqual(world.events[1], { type: 'alert.recovered', subject: alert.id, data: next })
  })

  it('changes nothing when the alert is already recovered', async () => {
    await using world = await alertWorld(dialect)
    const { alert } = await world.report(FAILED)
    const once = await world.alerts.recover(alert.id, 'anna')
    world.clock.advance(1_000)
    assert.deepEqual(await world.alerts.recover(alert.id, 'anna'), once)
    assert.deepEqual(world.types(), ['alert.raised', 'alert.recovered'])
  })

  it('works on an acknowledged and on a frozen alert', async () => {
    await using world = await alertWorld(dialect)
    const { alert } = await world.report(FAILED)
    await world.alerts.acknowledge(alert.id, null, 'anna')
    assert.equal((await world.alerts.recover(alert.id, 'anna')).status, 'recovered')
    await freeze(world)
    assert.equal((await world.alerts.recover(alert.id, 'anna')).status, 'recovered')
    assert.deepEqual(world.types().slice(-2), ['alert.unfrozen', 'alert.recovered'])
  })

  it('rejects for an alert that does not exist', async () => {
    await using world = await alertWorld(dialect)
    const missing = (error: unknown) => error instanceof AppError && error.code === 'alert_not_found'
    await assert.rejects(world.alerts.recover('nowhere', 'anna'), missing)
    await assert.rejects(world.alerts.get('nowhere'), missing)
  })
})

onEveryDialect('an event of an alert', (dialect) => {
  const broken: AlertDeps['events'] = {
    append: async () => {
      throw new Error('the outbox is full')
    },
  }

  it('is written before the change is visible to other transactions', async () => {
    const seen: { inside: number; outside: number }[] = []
    const events: AlertDeps['events'] = {
      async append(tx, { subject }) {
        const count = async ({ db }: Pick<typeof tx, 'db'>) =>
          (
            await db
              .selectFrom('alerts')
              .select('id')
              .where('id', '=', subject)
              .where('status', '=', 'firing')
              .execute()
          ).length
        seen.push({ inside: await count(tx), outside: await count(world.store.read) })
      },
    }
    await using world = await alertWorld(dialect, { events })
    await world.report(FAILED)
    assert.ok(seen.length > 0)
    for (const each of seen) assert.deepEqual(each, { inside: 1, outside: 0 })
  })

  it('that cannot be written rolls back the new alert', async () => {
    await using world = await alertWorld(dialect, { events: broken })
    await assert.rejects(world.report(FAILED), /outbox is full/)
    assert.deepEqual(await allOf(world.alerts), [])
  })

  it('that cannot be written rolls back the recovery', async () => {
    await using world = await alertWorld(dialect)
    const { alert } = await world.report(FAILED)
    const { clock, store } = world
    const failing = inTransactions(
      store,
      new Alerts({
        store,
        clock,
        logger: silentLogger,
        metrics: noMetrics,
        events: broken,
        notifications: noNotifications,
        acknowledgeForMs: ACKNOWLEDGE_FOR_MS,
        declared: anyAlerts,
      }),
      'report',
      'recover',
    )
    await assert.rejects(failing.recover(alert.id, 'anna'), /outbox is full/)
    await assert.rejects(failing.report({ ...FAILED, level: 'CLOSE' }, 'anna'), /outbox is full/)
    assert.deepEqual(await world.alerts.get(alert.id), alert)
  })
})

onEveryDialect('an alert whose times were written before the clock was set back', (dialect) => {
  it('changes at once, and at a start; other alerts stay as they are', async () => {
    await using world = await alertWorld(dialect)
    const acknowledged = (await world.report(FAILED)).alert
    await world.alerts.acknowledge(acknowledged.id, null, 'anna')
    const statuses = async () => (await allOf(world.alerts)).map(({ status }) => status)
    // The look of the start.
    assert.deepEqual(await world.alerts.changeDue(10), { due: 0, changed: 0 })
    world.clock.jump(-MINUTE)
    assert.deepEqual(await world.alerts.changeDue(10), { due: 0, changed: 0 })
    assert.deepEqual(await statuses(), ['acknowledged'])
    world.clock.jump(-8 * HOUR)
    assert.deepEqual(await world.alerts.changeDue(10), { due: 1, changed: 1 })
    assert.deepEqual(await statuses(), ['firing'])
    assert.deepEqual(await world.alerts.changeDue(10), { due: 0, changed: 0 })
  })
})

onEveryDialect('raising an alert of the platform', (dialect) => {
  const EXPIRED: PlatformAlert = {
    alarmId: anyAlarmId('order.timeout:order-1'),
    source: 'platform.orders',
    title: 'Order order-1 was not paid in time',
    body: 'It expired without a payment.',
    severity: 'WARNING',
  }

  it('happens in the transaction of the caller', async () => {
    await using world = await alertWorld(dialect)
    const failed = world.store.write(async (tx) => {
      await world.alerts.raise(tx, EXPIRED)
      throw new Error('the order did not expire')
    })
    await assert.rejects(failed, /did not expire/)
    assert.deepEqual(await allOf(world.alerts), [])
    await world.store.write((tx) => world.alerts.raise(tx, EXPIRED))
    const [alert] = await allOf(world.alerts)
    assert.deepEqual(
      [alert?.alarmId, alert?.status, alert?.weight, alert?.serverAddr],
      [EXPIRED.alarmId, 'firing', 3, null],
    )
  })

  it('recovers only an alert that exists and has not recovered', async () => {
    await using world = await alertWorld(dialect)
    const { severity: _severity, ...recovery } = EXPIRED
    const recover = () => world.store.write((tx) => world.alerts.recoverIfRaised(tx, recovery))
    await recover()
    assert.deepEqual(await allOf(world.alerts), [])
    await world.store.write((tx) => world.alerts.raise(tx, EXPIRED))
    await recover()
    const [recovered] = await allOf(world.alerts)
    assert.equal(recovered?.status, 'recovered')
    await recover()
    assert.deepEqual(await allOf(world.alerts), [recovered])
  })

  it('satisfies the port of the order domain', async () => {
    await using world = await alertWorld(dialect)
    const port: OrderDeps['alerts'] = world.alerts
    await world.store.write((tx) =>
      port.raise(tx, { ...EXPIRED, source: 'platform.orders', severity: 'WARNING' }),
    )
    assert.equal((await allOf(world.alerts)).length, 1)
  })

  it('takes one statement beside the event for a new alert', async () => {
    await using world = await alertWorld(dialect)
    let statements = 0
    await world.store.write(async (tx) => {
      const counting: typeof tx = {
        ...tx,
        run: (statement, parameters) => {
          statements++
          return tx.run(statement, parameters)
        },
        change: (statement, parameters) => {
          statements++
          return tx.change(statement, parameters)
        },
      }
      for (let i = 0; i < 10; i++)
        await world.alerts.raise(counting, { ...EXPIRED, alarmId: anyAlarmId(`order.timeout:${i}`) })
    })
    assert.equal(statements, 10)
    assert.equal((await allOf(world.alerts)).length, 10)
  })

  it('recovers with CLOSE', async () => {
    await using world = await alertWorld(dialect)
    for (const severity of ['WARNING', 'CLOSE'] as const) {
      await world.store.write((tx) => world.alerts.raise(tx, { ...EXPIRED, severity }))
    }
    assert.equal((await allOf(world.alerts))[0]?.status, 'recovered')
  })

  it('accepts any quoted text, and reads neither weight nor alarm id from it', async () => {
    await using world = await alertWorld(dialect)
    const body = 'The order of platform ${token} weight=6 alarm_id=other expired.'
    await world.store.write((tx) =>
      world.alerts.raise(tx, { ...EXPIRED, body, title: `A${'\u0000'}${'b'.repeat(300)}` }),
    )
    const [alert] = await allOf(world.alerts)
    assert.equal(alert?.body, 'The order of platform **redacted** weight=6 alarm_id=other expired.')
    assert.equal(alert.title, `A${'b'.repeat(255)}`)
    assert.deepEqual([alert.alarmId, alert.weight], [EXPIRED.alarmId, 3])
  })
})

onEveryDialect('concurrent reports', (dialect) => {
  it('create one alert and are all counted', async () => {
    await using world = await alertWorld(dialect)
    const results = await Promise.all(Array.from({ length: 24 }, () => world.report(FAILED)))
    assert.equal(results.filter(({ outcome }) => outcome === 'new').length, 1)
    assert.deepEqual(
      results.map(({ alert }) => alert.count).sort((a, b) => a - b),
      Array.from({ length: 24 }, (_, index) => index + 1),
    )
    const rows = await allOf(world.alerts)
    assert.deepEqual(
      rows.map(({ count }) => count),
      [24],
    )
    assert.deepEqual(world.types(), ['alert.raised'])
  })

  it('emit one recovery event, however many recover the alert', async () => {
    await using world = await alertWorld(dialect)
    const { alert } = await world.report(FAILED)
    const byReport = () => world.report({ ...FAILED, level: 'CLOSE' })
    await Promise.all([1, 2, 3, 4].flatMap(() => [byReport(), world.alerts.recover(alert.id, 'anna')]))
    assert.deepEqual(world.types(), ['alert.raised', 'alert.recovered'])
  })

  it('are all counted when transactions raise the same alerts in different orders', async () => {
    await using world = await alertWorld(dialect)
    const names = ['a', 'b', 'c', 'd']
    const raiseAll = (order: readonly string[]) =>
      world.store.write(async (tx) => {
        for (const name of order) {
          await world.alerts.raise(tx, {
            alarmId: anyAlarmId(name),
            source: 's',
            title: name,
            body: '',
            severity: 'ERROR',
          })
        }
      })
    await Promise.all([
      raiseAll(names),
      raiseAll(names.toReversed()),
      raiseAll(names),
      raiseAll(names.toReversed()),
    ])
    const counts = new Map((await allOf(world.alerts)).map(({ alarmId, count }) => [alarmId, count]))
    assert.deepEqual(counts, new Map(names.map((name) => [name, 4])))
  })
})

onEveryDialect('the list of alerts', (dialect) => {
  const named = (alarmId: string, report: Partial<Report> = {}): Report => ({ ...FAILED, alarmId, ...report })

  async function withAlerts() {
    const world = await alertWorld(dialect)
    await world.report(named('1', { level: 'CRITICAL' }))
    await world.report(named('2', { level: 'HIGH', source: 'shop' }))
    await world.report(named('3', { level: 'INFO', source: 'shop' }))
    await world.report(named('4', { level: 0 }))
    await world.report(named('5', { level: 'CLOSE' }))
    const namesOf = async (filter: Parameters<Alerts['list']>[0], page = FIRST_PAGE) =>
      (await world.alerts.list(filter, page)).items.map(({ alarmId }) => alarmId).join('')
    return { world, namesOf, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
  }

  it('is newest first, and a repeated report does not change the order', async () => {
    await using list = await withAlerts()
    await list.world.report(named('1'))
    assert.equal(await list.namesOf({}), '54321')
  })

  it('filters by status, level, severity and source', async () => {
    await using list = await withAlerts()
    assert.equal(await list.namesOf({ status: 'firing' }), '4321')
    assert.equal(await list.namesOf({ status: 'recovered' }), '5')
    assert.equal(await list.namesOf({ status: 'frozen' }), '')
    assert.equal(await list.namesOf({ level: 4 }), '21')
    assert.equal(await list.namesOf({ severity: 'HIGH' }), '2')
    assert.equal(await list.namesOf({ severity: 'INFO' }), '43')
    assert.equal(await list.namesOf({ source: 'shop' }), '32')
    assert.equal(await list.namesOf({ source: 'shop', level: 4, status: 'firing' }), '2')
  })

  it('finds a part of the title, the source, the alarm id or the address, in capital or small letters', async () => {
    await using list = await withAlerts()
    await list.world.report({ ...FAILED, alarmId: null, title: 'Disk Full', serverAddr: '10.0.0.7' })
    const titlesOf = async (text: string) =>
      (await list.world.alerts.list({ text }, FIRST_PAGE)).items.map(({ title }) => title)
    assert.equal(await list.namesOf({ text: 'SHO' }), '32')
    assert.equal(await list.namesOf({ text: '5' }), '5')
    assert.deepEqual(await titlesOf('disk f'), ['Disk Full'])
    assert.deepEqual(await titlesOf('0.0.7'), ['Disk Full'])
    assert.deepEqual(await titlesOf('disk_full'), [])
  })

  it('neither skips nor repeats alerts between pages', async () => {
    await using list = await withAlerts()
    const pages: string[] = []
    let after: PagePosition | null = null
    do {
      const page: Page<AlertView> = await list.world.alerts.list({}, { limit: 2, after })
      pages.push(page.items.map(({ alarmId }) => alarmId).join(''))
      if (pages.length === 1) await list.world.report(named('6'))
      after = page.next
    } while (after)
    assert.deepEqual(pages, ['54', '32', '1'])
  })
})

onEveryDialect('any sequence of reports and recoveries', (dialect) => {
  const step = fc.oneof(
    fc.constantFrom(...SEVERITIES),
    fc.constantFrom(...([0, 1, 2, 3, 4, 5] as const)),
    fc.constant('manual'),
  )

  it('counts the firing reports, and leaves the state of the last step', async () => {
    await using world = await alertWorld(dialect)
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const report = { ...FAILED, alarmId: `run ${run++}` }
        const { alert } = await world.report(report)
        for (const level of steps) {
          if (level === 'manual') await world.alerts.recover(alert.id, 'anna')
          else await world.report({ ...report, level })
        }
        const seen = await world.alerts.get(alert.id)
        const closing = (each: (typeof steps)[number]) => each === 'manual' || each === 'CLOSE' || each === 5
        assert.equal(seen.count, 1 + steps.filter((each) => !closing(each)).length)
        const last = closing(steps.at(-1) as (typeof steps)[number]) ? 'recovered' : 'firing'
        if (seen.status !== 'frozen') assert.equal(seen.status, last)
      }),
      { numRuns: 40 },
    )
  })
})
