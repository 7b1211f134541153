import assert from 'node:assert/strict'
import { it } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import type { Page, PagePosition, PageRequest } from '../../kernel/page.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../kernel/time.ts'
import { ACKNOWLEDGE_FOR_MS, alertWorld, FAILED, type AlertWorld } from '../../../test/support/alerts.ts'
import { anyAlarmId } from '../../../test/support/declared-alerts.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { DeclaredAlerts } from '../../kernel/alerts.ts'
import { alertCountJob, alertPruneJob, alertTimeJob, createSuppressions } from './index.ts'
import type { HistoryEntry } from './transitions.ts'
import type { AlertStatus, Report } from './model.ts'

const FIRST_PAGE = { limit: 100 }

const statusOf = async ({ alerts }: AlertWorld, id: string) => (await alerts.get(id)).status

const isRefused = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

/** Lets time pass, and the worker's job notice it. */
async function pass(world: AlertWorld, milliseconds: number): Promise<void> {
  world.clock.advance(milliseconds)
  await alertTimeJob(world.alerts).run(new AbortController().signal)
}

async function reportAll(world: AlertWorld, ...levels: Report['level'][]): Promise<string> {
  let id = ''
  for (const level of levels)
    id = (await world.report({ ...FAILED, ...(level !== undefined && { level }) })).alert.id
  return id
}

const NEEDS_PERSON = {
  severities: ['ERROR'],
  raisedBy: 'A test.',
  endedBy: 'The test.',
  whatToDo: 'Nothing.',
  repeatEveryMs: DAY,
} as const

onEveryDialect('an alert that is declared', (dialect) => {
  const declared = new DeclaredAlerts({
    'backup.failed': NEEDS_PERSON,
    'backup.retry': { severities: ['WARNING'], raisedBy: '', endedBy: '', whatToDo: '', endsAfterMs: DAY },
  })

  it('to need a person is told again each day while it fires, by another process, too', async () => {
    await using world = await alertWorld(dialect, { declared })
    await using other = await world.otherProcess()
    const id = await reportAll(world, 'ERROR')
    await pass(world, DAY - 1)
    await reportAll(world, 'ERROR')
    assert.deepEqual(world.kinds(), ['raised'])
    world.clock.advance(1)
    await alertTimeJob(other.alerts).run(new AbortController().signal)
    await pass(world, 1)
    assert.deepEqual(world.kinds(), ['raised', 'repeated'])
    await pass(world, 3 * DAY)
    assert.deepEqual(world.kinds(), ['raised', 'repeated', 'repeated'])
    await world.alerts.recover(id, 'anna')
    await pass(world, 3 * DAY)
    assert.deepEqual(world.kinds(), ['raised', 'repeated', 'repeated', 'recovered'])
    assert.equal((await world.alerts.get(id)).count, 2)
  })

  it('to need a person is not told again while it is acknowledged or frozen', async () => {
    await using world = await alertWorld(dialect, { declared, acknowledgeForMs: 3 * DAY })
    const id = await reportAll(world, 'ERROR')
    await world.alerts.acknowledge(id, null, 'anna')
    await pass(world, 2 * DAY)
    await pass(world, DAY)
    assert.deepEqual(world.kinds(), ['raised', 'acknowledgement_lapsed'])
    await pass(world, DAY - 1)
    assert.deepEqual(world.kinds(), ['raised', 'acknowledgement_lapsed'])
    await pass(world, 1)
    assert.deepEqual(world.kinds().at(-1), 'repeated')
    await reportAll(world, 'CLOSE', 'CRITICAL', 'CLOSE', 'CRITICAL', 'CLOSE', 'CRITICAL')
    assert.equal(await statusOf(world, id), 'frozen')
    const before = world.kinds().length
    await pass(world, HOUR - 1)
    assert.deepEqual(world.kinds().length, before)
  })

  it('to end after some time ends so long after its last report', async () => {
    await using world = await alertWorld(dialect, { declared })
    const report = { ...FAILED, alarmId: 'backup.retry' }
    const { alert } = await world.report(report)
    world.clock.advance(HOUR)
    await world.report(report)
    await pass(world, DAY - 1)
    assert.equal(await statusOf(world, alert.id), 'firing')
    await pass(world, 1)
    assert.equal(await statusOf(world, alert.id), 'recovered')
  })

  it('by nobody cannot be raised', async () => {
    await using world = await alertWorld(dialect, { declared })
    const alert = { alarmId: anyAlarmId('x'), source: 's', title: 't', body: '', severity: 'ERROR' } as const
    await assert.rejects(
      world.store.write((tx) => world.alerts.raise(tx, alert)),
      /x is not declared/,
    )
  })
})

onEveryDialect('an acknowledged alert', (dialect) => {
  it('is acknowledged once, however often', async () => {
    await using world = await alertWorld(dialect)
    const id = await reportAll(world, 'ERROR')
    const once = await world.alerts.acknowledge(id, 'On it.', 'anna')
    world.clock.advance(1_000)
    assert.deepEqual(await world.alerts.acknowledge(id, 'Me too.', 'bo'), once)
    assert.deepEqual(world.types(), ['alert.raised', 'alert.acknowledged'])
    assert.deepEqual(world.kinds(), ['raised'])
  })

  it('fires again when the acknowledgement lapses, and notifications are due', async () => {
    await using world = await alertWorld(dialect)
    const id = await reportAll(world, 'ERROR')
    await world.alerts.acknowledge(id, null, 'anna')
    await pass(world, ACKNOWLEDGE_FOR_MS - 1)
    assert.equal(await statusOf(world, id), 'acknowledged')
    await pass(world, 1)
    assert.equal(await statusOf(world, id), 'firing')
    assert.deepEqual(world.types(), ['alert.raised', 'alert.acknowledged', 'alert.raised'])
    assert.deepEqual(world.kinds(), ['raised', 'acknowledgement_lapsed'])
  })

  it('fires at once when it is reported with a higher weight', async () => {
    await using world = await alertWorld(dialect)
    const id = await reportAll(world, 'ERROR')
    await world.alerts.acknowledge(id, null, 'anna')
    await reportAll(world, 'ERROR', 'HIGH')
    assert.equal(await statusOf(world, id), 'firing')
    assert.deepEqual(world.kinds(), ['raised', 'risen'])
  })

  it('cannot be one that is recovered or frozen, or that does not exist', async () => {
    await using world = await alertWorld(dialect)
    const id = await reportAll(world, 'CRITICAL', 'CLOSE')
    await assert.rejects(world.alerts.acknowledge(id, null, 'anna'), isRefused('invalid_transition'))
    await reportAll(world, 'CRITICAL', 'CLOSE', 'CRITICAL')
    assert.equal(await statusOf(world, id), 'frozen')
    await assert.rejects(world.alerts.acknowledge(id, null, 'anna'), isRefused('invalid_transition'))
    await assert.rejects(world.alerts.acknowledge('nowhere', null, 'anna'), isRefused('alert_not_found'))
  })
})

onEveryDialect('a frozen alert', (dialect) => {
  async function frozen(): Promise<AlertWorld & { id: string }> {
    const world = await alertWorld(dialect)
    const id = await reportAll(world, 'CRITICAL', 'CLOSE', 'CRITICAL', 'CLOSE', 'CRITICAL')
    return { ...world, id }
  }

  it('emits one event when it is frozen, and none for later reports', async () => {
    await using world = await frozen()
    assert.deepEqual(world.types().slice(-2), ['alert.recovered', 'alert.frozen'])
    const { length } = world.events
    const { alert } = await world.report({ ...FAILED, level: 'WARNING' })
    assert.deepEqual([alert.status, alert.weight, alert.level, alert.count], ['frozen', 3, 2, 4])
    assert.equal(world.events.length, length)
  })

  it('is unfrozen after an hour without a swing, and then has the state of its last report', async () => {
    await using world = await frozen()
    await pass(world, HOUR - 1)
    assert.equal(await statusOf(world, world.id), 'frozen')
    await reportAll(world, 'CLOSE')
    await pass(world, HOUR - 1)
    assert.equal(await statusOf(world, world.id), 'frozen')
    await pass(world, 1)
    assert.equal(await statusOf(world, world.id), 'recovered')
    assert.deepEqual(world.noticed.at(-1), { kind: 'unfrozen', alarmId: FAILED.alarmId, status: 'recovered' })
    assert.equal(world.types().at(-1), 'alert.unfrozen')
  })

  it('is unfrozen by hand; an alert that is not frozen is refused', async () => {
    await using world = await frozen()
    assert.equal((await world.alerts.unfreeze(world.id, 'anna')).status, 'firing')
    await assert.rejects(world.alerts.unfreeze(world.id, 'anna'), isRefused('invalid_transition'))
    await assert.rejects(world.alerts.unfreeze('nowhere', 'anna'), isRefused('alert_not_found'))
  })
})

onEveryDialect('the history of an alert', (dialect) => {
  it('begins with the first report, and has a line for each change', async () => {
    await using world = await alertWorld(dialect)
    const start = world.clock.now()
    const id = await reportAll(world, 'ERROR', 'ERROR')
    world.clock.advance(1_000)
    await world.alerts.acknowledge(id, 'On it.', 'bo')
    await pass(world, ACKNOWLEDGE_FOR_MS)
    await world.alerts.recover(id, 'anna')
    const { items } = await world.alerts.history(id, FIRST_PAGE)
    const ended = start + 1_000 + ACKNOWLEDGE_FOR_MS
    const lines = items.map(({ at, from, to, weight, actor, note }) => [at, from, to, weight, actor, note])
    assert.deepEqual(lines, [
      [start, null, 'firing', 4, 'anna', null],
      [start + 1_000, 'firing', 'acknowledged', 4, 'bo', 'On it.'],
      [ended, 'acknowledged', 'firing', 4, 'worker', 'the acknowledgement has lapsed'],
      [ended, 'firing', 'recovered', 0, 'anna', null],
    ])
  })

  it('can be restricted to a time range, to which the first report belongs or not', async () => {
    await using world = await alertWorld(dialect)
    const start = world.clock.now()
    const id = await reportAll(world, 'ERROR')
    world.clock.advance(2 * HOUR)
    await world.alerts.acknowledge(id, 'On it.', 'bo')
    const statusesIn = async (range: Pick<PageRequest, 'createdFrom' | 'createdTo'>) =>
      (await world.alerts.history(id, { ...FIRST_PAGE, ...range })).items.map(({ to }) => to)
    assert.deepEqual(await statusesIn({ createdFrom: start }), ['firing', 'acknowledged'])
    assert.deepEqual(await statusesIn({ createdFrom: start + 1 }), ['acknowledged'])
    assert.deepEqual(await statusesIn({ createdTo: start + 1 }), ['firing'])
    assert.deepEqual(await statusesIn({ createdTo: start }), [])
  })

  it('is read page by page, and rejects for an alert that does not exist', async () => {
    await using world = await alertWorld(dialect)
    const id = await reportAll(world, 'WARNING', 'ERROR', 'HIGH', 'CRITICAL')
    const weights: number[] = []
    let after: PagePosition | null = null
    do {
      const { items, next }: Page<HistoryEntry> = await world.alerts.history(id, { limit: 2, after })
      weights.push(...items.map(({ weight }) => weight))
      after = next
    } while (after)
    assert.deepEqual(weights, [3, 4, 5, 6])
    await assert.rejects(world.alerts.history('nowhere', FIRST_PAGE), isRefused('alert_not_found'))
  })
})

onEveryDialect('a notice', (dialect) => {
  it('recovers 24 hours after its last report', async () => {
    await using world = await alertWorld(dialect)
    const id = await reportAll(world, 'INFO')
    await pass(world, DAY - 1)
    await reportAll(world, 'INFO')
    await pass(world, DAY - 1)
    assert.equal(await statusOf(world, id), 'firing')
    await pass(world, 1)
    assert.equal(await statusOf(world, id), 'recovered')
    assert.deepEqual(world.types(), ['alert.raised', 'alert.recovered'])
  })

  it('recovers with many others in one run of the job', async () => {
    await using world = await alertWorld(dialect)
    for (let number = 0; number < 120; number++)
      await world.report({ ...FAILED, alarmId: `notice ${number}`, level: 'INFO' })
    await pass(world, DAY)
    assert.equal(world.types().filter((type) => type === 'alert.recovered').length, 120)
  })
})

onEveryDialect('an inhibited alert', (dialect) => {
  const CRITICAL: Report = { ...FAILED, alarmId: 'backup.failed.critical', level: 'CRITICAL' }

  it('may have to be notified when the other one recovers', async () => {
    await using world = await alertWorld(dialect)
    await world.report(FAILED)
    await world.report(CRITICAL)
    await world.report({ ...CRITICAL, level: 'CLOSE' })
    assert.deepEqual(
      world.noticed.map(({ kind, alarmId }) => `${kind} ${alarmId}`),
      [
        'raised backup.failed',
        'raised backup.failed.critical',
        'recovered backup.failed.critical',
        'inhibition_ended backup.failed',
      ],
    )
  })

  it('is of the same source, and fires', async () => {
    await using world = await alertWorld(dialect)
    await world.report({ ...FAILED, source: 'elsewhere' })
    await world.report(CRITICAL)
    await world.report({ ...CRITICAL, level: 'CLOSE' })
    await world.report({ ...FAILED, level: 'CLOSE' })
    await world.report(CRITICAL)
    await world.report({ ...CRITICAL, level: 'CLOSE' })
    assert.ok(!world.kinds().includes('inhibition_ended'))
  })

  it('names the alert that inhibits it, for as long as that one has not recovered', async () => {
    await using world = await alertWorld(dialect)
    const { inhibitedBy } = createSuppressions(world.clock)
    const inhibitorOf = async (report: Report) => {
      const { alert } = await world.alerts.report(report, 'anna')
      return world.store.write((tx) => inhibitedBy(tx, alert))
    }
    assert.equal(await inhibitorOf(FAILED), undefined)
    const { alert: critical } = await world.report(CRITICAL)
    assert.deepEqual(await inhibitorOf(FAILED), { id: critical.id, alarmId: 'backup.failed.critical' })
    assert.equal(await inhibitorOf({ ...FAILED, alarmId: null }), undefined)
    await world.alerts.acknowledge(critical.id, null, 'anna')
    assert.equal((await inhibitorOf(FAILED))?.id, critical.id)
    await world.alerts.recover(critical.id, 'anna')
    assert.equal(await inhibitorOf(FAILED), undefined)
  })
})

onEveryDialect('the jobs of alerts', (dialect) => {
  it('remove recovered alerts with their history, and nothing else', async () => {
    await using world = await alertWorld(dialect)
    const keepMs = 90 * DAY
    const prune = alertPruneJob(world.alerts, world.silences, { clock: world.clock, keepMs })
    const run = () => prune.run(new AbortController().signal)
    const firing = (await world.report({ ...FAILED, alarmId: 'firing' })).alert.id
    const id = await reportAll(world, 'ERROR', 'CLOSE')
    world.clock.advance(keepMs)
    await run()
    assert.equal(await statusOf(world, id), 'recovered')
    world.clock.advance(1)
    await run()
    await assert.rejects(world.alerts.get(id), isRefused('alert_not_found'))
    assert.equal(await statusOf(world, firing), 'firing')
    const history = await world.store.read.db.selectFrom('alert_history').select('alert_id').execute()
    assert.deepEqual(history, [])
    // The same alert can be reported again.
    assert.equal((await world.report(FAILED)).outcome, 'new')
  })

  it('remove nothing after an abort', async () => {
    await using world = await alertWorld(dialect)
    const called: string[] = []
    const recording = (name: string) => ({
      prune: async () => called.push(name),
    })
    const options = { clock: world.clock, keepMs: DAY }
    await alertPruneJob(recording('alerts'), recording('silences'), options).run(AbortSignal.abort())
    assert.deepEqual(called, [])
  })

  it('count the alerts of each status', async () => {
    await using world = await alertWorld(dialect)
    const values = new Map<string | undefined, number>()
    const gauge = {
      set: (value: number, labels?: Readonly<Record<string, string>>) =>
        void values.set(labels?.['status'], value),
      clear: () => undefined,
    }
    const metrics = { gauge: () => gauge } as never
    const id = await reportAll(world, 'ERROR')
    await world.report({ ...FAILED, alarmId: 'other' })
    await world.alerts.acknowledge(id, null, 'anna')
    await alertCountJob(world.alerts, metrics).run(new AbortController().signal)
    const expected: [AlertStatus, number][] = [
      ['firing', 1],
      ['acknowledged', 1],
      ['recovered', 0],
      ['frozen', 0],
    ]
    assert.deepEqual(values, new Map(expected))
  })
})

onEveryDialect('two processes at once', (dialect) => {
  it('let each acknowledgement lapse once', async () => {
    await using world = await alertWorld(dialect)
    await using other = await world.otherProcess()
    for (let number = 0; number < 20; number++) {
      const { alert } = await world.report({ ...FAILED, alarmId: `alert ${number}` })
      await world.alerts.acknowledge(alert.id, null, 'anna')
    }
    world.clock.advance(ACKNOWLEDGE_FOR_MS)
    const { signal } = new AbortController()
    await Promise.all([alertTimeJob(world.alerts).run(signal), alertTimeJob(other.alerts).run(signal)])
    await alertTimeJob(other.alerts).run(signal)
    assert.equal(world.kinds().filter((kind) => kind === 'acknowledgement_lapsed').length, 20)
  })

  it('count every report, freeze once and unfreeze once', async () => {
    await using world = await alertWorld(dialect)
    await using other = await world.otherProcess()
    const swing = async (each: Pick<AlertWorld, 'report'>) => {
      for (const level of ['CRITICAL', 'CLOSE', 'CRITICAL', 'CLOSE'] as const)
        await each.report({ ...FAILED, level })
    }
    await reportAll(world, 'CRITICAL', 'CLOSE', 'CRITICAL', 'CLOSE', 'CRITICAL')
    await Promise.all([swing(world), swing(other)])
    const { items } = await world.alerts.list({}, { limit: 10 })
    assert.deepEqual([items.length, items[0]?.count, items[0]?.status], [1, 3 + 4, 'frozen'])
    world.clock.advance(HOUR)
    const { signal } = new AbortController()
    await Promise.all([alertTimeJob(world.alerts).run(signal), alertTimeJob(other.alerts).run(signal)])
    await alertTimeJob(other.alerts).run(signal)
    const of = (kind: string) => world.kinds().filter((each) => each === kind).length
    assert.deepEqual([of('frozen'), of('unfrozen')], [1, 1])
  })

  it('acknowledge an alert once, and report an alert that the other one prunes', async () => {
    await using world = await alertWorld(dialect)
    await using other = await world.otherProcess()
    const id = await reportAll(world, 'ERROR')
    await Promise.all([world, other].map(({ alerts }) => alerts.acknowledge(id, null, 'anna')))
    assert.deepEqual(world.types(), ['alert.raised', 'alert.acknowledged'])
    for (let round = 0; round < 10; round++) {
      await world.report({ ...FAILED, level: 'CLOSE' })
      world.clock.advance(10 * MINUTE)
      await Promise.all([other.alerts.prune(world.clock.now() - SECOND, 10), world.report(FAILED)])
      const { items } = await world.alerts.list({}, { limit: 10 })
      assert.deepEqual(
        items.map(({ status }) => status),
        ['firing'],
      )
    }
  })
})
