import assert from 'node:assert/strict'
import { it } from 'node:test'
import { notificationWorld } from '../../../../test/support/notification-world.ts'
import { onEveryDialect } from '../../../../test/support/store.ts'
import { noMetrics, type Labels, type Metrics } from '../../../kernel/metrics.ts'
import { HOUR, SECOND } from '../../../kernel/time.ts'
import type { DialectName } from '../../../store/dialects/capabilities.ts'
import type { Alert } from '../model.ts'
import type { AlertOccasion } from '../occasion.ts'

const SILENCE = { id: 's-1', reason: 'maintenance' }

/** A world whose alerts a test silences and inhibits. */
async function suppressedWorld(dialect: DialectName, metrics: Metrics = noMetrics) {
  const state = { isSilenced: false, isInhibited: false }
  const inhibitor = { id: 'a-1', alarmId: 'backup.failed.critical' }
  const world = await notificationWorld(dialect, {
    metrics,
    suppressions: {
      silencedBy: async () => (state.isSilenced ? SILENCE : undefined),
      inhibitedBy: async () => (state.isInhibited ? inhibitor : undefined),
    },
  })
  const notify = (kind: 'silence_ended' | 'inhibition_ended', alert: Alert) =>
    world.store.write((tx) => world.notifier.notify(tx, { kind } satisfies AlertOccasion, alert))
  /** Sends what is pending. */
  const send = async () => {
    const sender = world.sender()
    await world.drain()
    await sender.stop()
  }
  const outcomes = async (alert: Alert) =>
    (await world.decisions(alert.id)).map(({ occasion, outcome }) => `${occasion} ${outcome}`)
  let alert: Alert | undefined
  /** Reports CRITICAL and CLOSE in turn; the fifth report freezes the alert. */
  const swing = async (reports: number) => {
    for (let count = 0; count < reports; count++) {
      const level = alert === undefined || alert.weight === 0 ? 'CRITICAL' : 'CLOSE'
      alert = (await world.report({ ...FAILED, level })).alert
    }
    assert.ok(alert)
    return { alert }
  }
  return { ...world, state, notify, send, outcomes, swing }
}

const FAILED = { title: 'Backup failed', alarmId: 'backup.failed' } as const

onEveryDialect('decisions on notifications', (dialect) => {
  it('lists them newest first, and none for a repetition', async () => {
    await using world = await suppressedWorld(dialect)
    const { alert } = await world.report(FAILED)
    for (const level of ['ERROR', 'HIGH', 'CLOSE', 'INFO'] as const) {
      world.clock.advance(SECOND)
      await world.report({ ...FAILED, level })
    }
    assert.deepEqual(await world.outcomes(alert), [
      'raised below_level',
      'recovered superseded',
      'risen superseded',
      'raised superseded',
    ])
    const [newest] = await world.decisions(alert.id)
    assert.deepEqual(
      Object.keys(newest ?? {}).filter((name) => name !== 'seq'),
      ['id', 'at', 'occasion', 'channel', 'outcome', 'reason', 'cause'],
    )
    assert.deepEqual([newest?.at, newest?.channel], [world.clock.now(), 'robot'])
  })

  it('does not push the recovery of an alert that was silenced throughout', async () => {
    await using world = await suppressedWorld(dialect)
    world.state.isSilenced = true
    const { alert } = await world.report(FAILED)
    world.state.isSilenced = false
    await world.report({ ...FAILED, level: 'CLOSE' })
    assert.deepEqual(await world.outcomes(alert), ['recovered silenced', 'raised silenced'])
  })

  it('pushes the recovery of an alert that was pushed before its silence', async () => {
    await using world = await suppressedWorld(dialect)
    const { alert } = await world.report(FAILED)
    world.startSender()
    await world.drain()
    world.state.isSilenced = true
    await world.report({ ...FAILED, level: 'HIGH' })
    await world.report({ ...FAILED, level: 'CLOSE' })
    assert.deepEqual(await world.outcomes(alert), ['recovered pending', 'risen silenced', 'raised sent'])
  })

  it('does not push a second recovery after a pushed one', async () => {
    await using world = await suppressedWorld(dialect)
    const { alert } = await world.report(FAILED)
    await world.send()
    await world.report({ ...FAILED, level: 'CLOSE' })
    await world.send()
    world.state.isSilenced = true
    await world.report(FAILED)
    await world.report({ ...FAILED, level: 'CLOSE' })
    assert.deepEqual((await world.outcomes(alert)).slice(0, 2), ['recovered silenced', 'raised silenced'])
  })

  it('pushes the recovery of an alert that was pushed before its freeze', async () => {
    await using world = await suppressedWorld(dialect)
    const { alert } = await world.swing(5)
    await world.swing(2)
    await world.send()
    world.state.isSilenced = true
    await world.store.write((tx) => world.alerts.unfreeze(tx, alert.id, 'anna'))
    await world.report({ ...FAILED, level: 'CLOSE' })
    assert.deepEqual((await world.outcomes(alert)).slice(0, 5), [
      'recovered pending',
      'unfrozen silenced',
      'raised frozen',
      'recovered frozen',
      'frozen sent',
    ])
  })

  it('does not push a recovery after the end of a freeze has pushed one', async () => {
    await using world = await suppressedWorld(dialect)
    const { alert } = await world.swing(6)
    await world.send()
    await world.store.write((tx) => world.alerts.unfreeze(tx, alert.id, 'anna'))
    await world.send()
    world.state.isSilenced = true
    await world.swing(2)
    assert.deepEqual((await world.outcomes(alert)).slice(0, 3), [
      'recovered silenced',
      'raised silenced',
      'unfrozen sent',
    ])
  })

  it('does not push the end of a freeze of which nothing was pushed, when the alert is recovered by hand', async () => {
    await using world = await suppressedWorld(dialect)
    world.state.isSilenced = true
    const { alert } = await world.swing(5)
    world.state.isSilenced = false
    await world.store.write((tx) => world.alerts.recover(tx, alert.id, 'anna'))
    assert.deepEqual((await world.outcomes(alert)).slice(0, 2), ['unfrozen silenced', 'frozen silenced'])
    const [ended] = await world.decisions(alert.id)
    assert.equal(ended?.reason, 'The alert was never pushed. Silenced by s-1: maintenance')
  })

  it('pushes the end of a freeze that was pushed, although the alert is silenced by then', async () => {
    await using world = await suppressedWorld(dialect)
    const { alert } = await world.swing(5)
    await world.send()
    world.state.isSilenced = true
    await world.store.write((tx) => world.alerts.recover(tx, alert.id, 'anna'))
    assert.deepEqual((await world.outcomes(alert)).slice(0, 2), ['unfrozen pending', 'frozen sent'])
  })

  it('pushes the end of a freeze that began with a recovery', async () => {
    await using world = await suppressedWorld(dialect)
    await world.swing(2)
    // The first swing is too old to count when the fifth one comes.
    world.clock.advance(HOUR)
    const { alert } = await world.swing(4)
    assert.deepEqual([alert.status, alert.weight], ['frozen', 0])
    await world.send()
    await world.store.write((tx) => world.alerts.unfreeze(tx, alert.id, 'anna'))
    assert.deepEqual((await world.outcomes(alert)).slice(0, 2), ['unfrozen pending', 'frozen sent'])
  })

  it('stores one decision of each kind for a freeze, however often the alert changes', async () => {
    await using world = await suppressedWorld(dialect)
    const { alert } = await world.swing(25)
    await world.send()
    assert.deepEqual((await world.outcomes(alert)).slice(0, 3), [
      'raised frozen',
      'recovered frozen',
      'frozen sent',
    ])
    world.state.isSilenced = true
    await world.swing(6)
    assert.deepEqual((await world.outcomes(alert)).slice(0, 3), [
      'raised silenced',
      'raised frozen',
      'recovered frozen',
    ])
    assert.equal((await world.decisions(alert.id)).length, 4 + 1 + 2 + 1)
  })

  it('pushes an alert once that still fires at the end of a silence or an inhibition and was never pushed', async () => {
    await using world = await suppressedWorld(dialect)
    world.state.isInhibited = true
    const { alert } = await world.report(FAILED)
    world.state.isSilenced = true
    world.state.isInhibited = false
    await world.notify('inhibition_ended', alert)
    world.state.isSilenced = false
    await world.notify('silence_ended', alert)
    await world.notify('silence_ended', alert)
    assert.deepEqual(await world.outcomes(alert), [
      'silence_ended pending',
      'inhibition_ended silenced',
      'raised inhibited',
    ])
  })

  it('counts notifications by outcome, and counts the pending ones', async () => {
    const counts = new Map<string, number>()
    const collectors: (() => void | Promise<void>)[] = []
    let pending = 0
    const metrics: Metrics = {
      ...noMetrics,
      counter: ({ name }) => ({
        increment(labels: Labels = {}, by = 1) {
          const key = `${name} ${labels['channel']} ${labels['outcome']}`
          counts.set(key, (counts.get(key) ?? 0) + by)
        },
      }),
      gauge: ({ name }) => ({
        set: (value) => void (name === 'alert_notifications_pending' && (pending = value)),
        clear() {},
      }),
      onScrape: (collect) => void collectors.push(collect),
    }
    await using world = await suppressedWorld(dialect, metrics)
    await world.report({ title: 'one' })
    await world.report({ title: 'two' })
    await world.report({ title: 'three', level: 'INFO' })
    const count = (outcome: string) => counts.get(`alert_notifications_total robot ${outcome}`)
    for (const collect of collectors) await collect()
    assert.deepEqual([pending, count('bundled'), count('below_level'), count('failed')], [2, 0, 1, 0])
    world.startSender()
    await world.drain()
    for (const collect of collectors) await collect()
    assert.deepEqual([pending, count('bundled')], [0, 2])
  })
})
