import assert from 'node:assert/strict'
import { it } from 'node:test'
import { eventually } from '../../../../test/support/eventually.ts'
import { notificationWorld, type NotificationWorld } from '../../../../test/support/notification-world.ts'
import { ROBOT_FAULTS } from '../../../../test/support/robots.ts'
import { onEveryDialect } from '../../../../test/support/store.ts'
import { HOUR, SECOND } from '../../../kernel/time.ts'
import type { DialectName } from '../../../store/dialects/capabilities.ts'
import type { Alert, Severity } from '../model.ts'
import { SETTLE_MS } from '../silences/model.ts'
import { GATHER_MS } from './bundle.ts'
import { listWaiting } from './message-store.ts'

/** A world whose alerts are named by their `alarm_id`. */
async function waitingWorld(dialect: DialectName) {
  const world = await notificationWorld(dialect)
  const { alerts, clock, silences, store } = world
  return {
    ...world,
    raise: async (alarmId: string, level: Severity = 'ERROR') =>
      (await world.report({ title: alarmId, alarmId, level })).alert,
    silence: (alarmId: string) =>
      store.write((tx) =>
        silences.create(
          tx,
          { matchers: { alarmId }, reason: 'Maintenance', endsAt: clock.now() + HOUR },
          'anna',
        ),
      ),
    acknowledge: ({ id }: Alert) => store.write((tx) => alerts.acknowledge(tx, id, null, 'anna')),
    /** Ends a silence, and lets the worker's job work on its end. */
    async endSilence(id: string) {
      await store.write((tx) => silences.end(tx, id, 'anna'))
      await world.idle()
      clock.advance(SETTLE_MS)
      await silences.settleEnded(new AbortController().signal)
    },
    /** The decisions on an alert, oldest first. */
    outcomes: async ({ id }: Alert) =>
      (await world.decisions(id)).map(({ occasion, outcome }) => `${occasion} ${outcome}`).toReversed(),
    reason: async ({ id }: Alert) => (await world.decisions(id))[0]?.reason ?? '',
    /** What the robot has shown: the first lines of messages, and the lines of bundles. */
    shown: () => world.robots.shown.flatMap(markedLines),
  }
}

function markedLines(message: string): string[] {
  const [title = '', ...lines] = message.split('\n')
  return title.includes(' notifications of ') ? lines.map((line) => line.replace(/ \(.*/, '')) : [title]
}

/** Silences `a`, acknowledges `b`, and inhibits `c`, which all wait. */
async function suppressAll(world: Awaited<ReturnType<typeof waitingWorld>>, b: Alert) {
  const silence = await world.silence('a')
  await world.acknowledge(b)
  const critical = await world.raise('c.critical', 'CRITICAL')
  return { silence, critical }
}

onEveryDialect('what a receiver was told last', (dialect) => {
  const ENDS = ['its end', 'another title', 'another source'] as const
  for (const end of ENDS)
    it(`is compared with the alert when a silence ends by ${end}`, async () => {
      await using world = await waitingWorld(dialect)
      world.startSender()
      const report = { alarmId: 'a', title: 'a', source: 'one' } as const
      const { alert } = await world.report({ ...report, level: 'ERROR' })
      await world.drain()
      const matchers = { title: 'a', source: 'one' }
      const { id } = await world.store.write((tx) =>
        world.silences.create(tx, { matchers, reason: 'r', endsAt: world.clock.now() + HOUR }, 'anna'),
      )
      await world.report({ ...report, level: 'CRITICAL' })
      await world.drain()
      assert.deepEqual(await world.outcomes(alert), ['raised sent', 'risen silenced'])
      if (end === 'its end') await world.endSilence(id)
      else if (end === 'another title') await world.report({ ...report, title: 'b', level: 'CRITICAL' })
      else await world.report({ ...report, source: 'two', level: 'CRITICAL' })
      await world.drain()
      assert.deepEqual(await world.outcomes(alert), ['raised sent', 'risen silenced', 'silence_ended sent'])
      if (end !== 'its end') await world.endSilence(id)
      await world.drain()
      assert.equal(world.shown().length, 2)
    })

  for (const end of ['recovers', 'moves to another source', 'recovers from another source'] as const)
    it(`is compared with the alert when the alert that inhibits it ${end}`, async () => {
      await using world = await waitingWorld(dialect)
      world.startSender()
      const a = await world.raise('a', 'WARNING')
      await world.drain()
      const inhibitor = { alarmId: 'a.critical', title: 'a.critical' }
      await world.report({ ...inhibitor, level: 'CRITICAL' })
      await world.raise('a', 'HIGH')
      await world.drain()
      const source = end === 'recovers' ? {} : { source: 'other' }
      const level = end === 'moves to another source' ? 'CRITICAL' : 'CLOSE'
      await world.report({ ...inhibitor, ...source, level })
      await world.drain()
      const [first, second, last] = await world.outcomes(a)
      assert.deepEqual([first, second], ['raised sent', 'risen inhibited'])
      // With the end of the other one, if they are of one source.
      assert.equal(last, `inhibition_ended ${end === 'recovers' ? 'bundled' : 'sent'}`)
    })

  for (const change of [{ title: 'b' }, { body: 'b' }, { source: 'b' }, { serverAddr: 'b' }])
    it(`has the text of the alert: another ${Object.keys(change).join()} is told once, at the end of a silence`, async () => {
      await using world = await waitingWorld(dialect)
      world.startSender()
      const report = { alarmId: 'a', title: 'a', level: 'ERROR' } as const
      const { alert } = await world.report(report)
      await world.drain()
      const silences = [await world.silence('a'), await world.silence('a')]
      await world.report({ ...report, ...change })
      await world.drain()
      assert.deepEqual(await world.outcomes(alert), ['raised sent'])
      for (const { id } of silences) await world.endSilence(id)
      await world.endSilence((await world.silence('a')).id)
      await world.drain()
      const outcomes = await world.outcomes(alert)
      assert.deepEqual(
        outcomes.filter((outcome) => outcome.endsWith('sent')),
        ['raised sent', 'silence_ended sent'],
      )
    })

  it('has the text of the alert: a title that the silence does not match is told', async () => {
    await using world = await waitingWorld(dialect)
    world.startSender()
    const report = { alarmId: 'a', title: 'a', level: 'ERROR' } as const
    const { alert } = await world.report(report)
    await world.drain()
    const silence = { matchers: { title: 'a' }, reason: 'r', endsAt: world.clock.now() + HOUR }
    await world.store.write((tx) => world.silences.create(tx, silence, 'anna'))
    await world.report({ ...report, title: 'b' })
    await world.report({ ...report, title: 'c' })
    await world.drain()
    assert.deepEqual(await world.outcomes(alert), ['raised sent', 'silence_ended sent'])
  })

  it('has the text that people have acknowledged', async () => {
    await using world = await waitingWorld(dialect)
    world.startSender()
    const report = { alarmId: 'a', title: 'a', level: 'ERROR' } as const
    const { alert } = await world.report(report)
    await world.drain()
    await world.report({ ...report, body: 'b' })
    await world.acknowledge(alert)
    const { id } = await world.silence('a')
    await world.drain()
    await world.endSilence(id)
    await world.drain()
    assert.deepEqual(await world.outcomes(alert), ['raised sent'])
  })

  it('is what people have acknowledged: a rise from there is told, a rise back to what was told is not', async () => {
    await using world = await waitingWorld(dialect)
    world.startSender()
    const a = await world.raise('a', 'CRITICAL')
    const b = await world.raise('b', 'CRITICAL')
    await world.drain()
    await world.raise('a', 'WARNING')
    await world.raise('b', 'WARNING')
    await world.acknowledge(a)
    await world.raise('a', 'ERROR')
    await world.raise('b', 'ERROR')
    await world.drain()
    assert.deepEqual(await world.outcomes(a), ['raised bundled', 'risen sent'])
    assert.deepEqual(await world.outcomes(b), ['raised bundled'])
  })
})

onEveryDialect('a waiting notification', (dialect) => {
  it('is judged again when its message is made', async () => {
    await using world = await waitingWorld(dialect)
    const [a, b, c] = [await world.raise('a'), await world.raise('b'), await world.raise('c')]
    const { silence, critical } = await suppressAll(world, b)
    world.startSender()
    await world.drain()
    assert.deepEqual(world.shown(), ['[CRITICAL] c.critical'])
    assert.deepEqual(await world.outcomes(a), ['raised silenced'])
    assert.deepEqual(await world.outcomes(b), ['raised acknowledged'])
    assert.deepEqual(await world.outcomes(c), ['raised inhibited'])
    assert.equal(await world.reason(a), `Silenced by ${silence.id}: Maintenance`)
    assert.equal(await world.reason(b), 'The alert is acknowledged.')
    assert.equal(await world.reason(c), `Inhibited by the alert ${critical.id} (c.critical).`)
  })

  it('is pushed after all when what held it back has ended', async () => {
    await using world = await waitingWorld(dialect)
    const [a, b, c] = [await world.raise('a'), await world.raise('b'), await world.raise('c')]
    const { silence } = await suppressAll(world, b)
    world.startSender()
    await world.drain()
    await world.raise('c.critical', 'CLOSE')
    await world.endSilence(silence.id)
    await world.drain()
    assert.deepEqual(await world.outcomes(a), ['raised silenced', 'silence_ended sent'])
    assert.deepEqual(await world.outcomes(b), ['raised acknowledged'])
    assert.deepEqual(await world.outcomes(c), ['raised inhibited', 'inhibition_ended bundled'])
  })

  it('is judged again before another attempt at its message', async () => {
    await using world = await waitingWorld(dialect)
    world.robots.behave(ROBOT_FAULTS['answers 500'])
    world.startSender()
    const [a, b, c] = [await world.raise('a'), await world.raise('b'), await world.raise('c')]
    await world.raise('d')
    await world.pass(2 * SECOND)
    const attempts = world.robots.requests.length
    assert.ok(attempts > 0)
    await suppressAll(world, b)
    world.robots.behave(undefined)
    await world.drain()
    assert.deepEqual(world.shown(), ['[CRITICAL] c.critical', '[ERROR] d'])
    for (const [alert, outcome] of [
      [a, 'silenced'],
      [b, 'acknowledged'],
      [c, 'inhibited'],
    ] as const)
      assert.deepEqual(await world.outcomes(alert), [`raised ${outcome}`])
  })

  it('does not hold up others when nothing of its message is left', async () => {
    await using world = await waitingWorld(dialect)
    world.robots.behave(ROBOT_FAULTS['answers 500'])
    world.startSender()
    const a = await world.raise('a')
    await world.pass(2 * SECOND)
    await world.raise('other')
    await world.acknowledge(a)
    world.robots.behave(undefined)
    await world.drain()
    assert.deepEqual(world.shown(), ['[ERROR] other'])
    assert.deepEqual(await world.rows('select id from alert_messages'), [])
  })

  it('of an alert that has been frozen meanwhile is not sent, but the freeze is', async () => {
    await using world = await waitingWorld(dialect)
    let alert: Alert | undefined
    for (const level of ['CRITICAL', 'CLOSE', 'CRITICAL', 'CLOSE', 'CRITICAL'] as const)
      alert = await world.raise('a', level)
    world.startSender()
    await world.drain()
    assert.ok(alert)
    assert.deepEqual(world.shown(), ['[FROZEN] a'])
    assert.deepEqual(await world.outcomes(alert), [
      'raised superseded',
      'recovered superseded',
      'raised superseded',
      'recovered superseded',
      'frozen sent',
    ])
  })

  it('of a recovery is sent only if one before it is', async () => {
    await using world = await waitingWorld(dialect)
    const notified = await world.raise('told')
    world.startSender()
    await world.drain()
    const untold = await world.raise('untold')
    await world.raise('untold', 'CLOSE')
    await world.raise('told', 'CLOSE')
    await world.silence('told')
    await world.silence('untold')
    await world.drain()
    assert.deepEqual(world.shown(), ['[ERROR] told', '[RECOVERED] told'])
    assert.deepEqual(await world.outcomes(notified), ['raised sent', 'recovered sent'])
    assert.deepEqual(await world.outcomes(untold), ['raised superseded', 'recovered superseded'])
    assert.match(await world.reason(untold), /^The alert was never pushed\./)
  })

  it('is replaced by the newest state of its alert, which is told once', async () => {
    await using world = await waitingWorld(dialect)
    world.robots.behave(ROBOT_FAULTS['answers 500'])
    world.startSender()
    const a = await world.raise('a', 'WARNING')
    await world.pass(2 * SECOND)
    await world.raise('a', 'CRITICAL')
    await world.pass(2 * SECOND)
    await world.raise('a', 'ERROR')
    world.robots.behave(undefined)
    await world.drain()
    assert.deepEqual(world.shown(), ['[ERROR] a'])
    assert.deepEqual(await world.outcomes(a), ['raised superseded', 'risen sent'])
  })

  it('is followed by the newest state when the robot may have got it', async () => {
    await using world = await waitingWorld(dialect)
    world.robots.behave(ROBOT_FAULTS['resets the connection'])
    world.startSender()
    const a = await world.raise('a')
    await world.pass(2 * SECOND)
    await world.raise('a', 'CLOSE')
    world.robots.behave(undefined)
    await world.drain()
    assert.deepEqual(world.shown(), ['[ERROR] a', '[RECOVERED] a'])
    assert.deepEqual(await world.outcomes(a), ['raised sent', 'recovered sent'])
  })

  it('is sent again as it is after the death of the process that may have sent it', async () => {
    await using world = await waitingWorld(dialect)
    const a = await world.raise('a')
    await dieAfterSending(world)
    await world.silence('a')
    world.clock.advance(20 * SECOND)
    world.startSender()
    await world.drain()
    assert.deepEqual(world.shown(), ['[ERROR] a', '[ERROR] a'])
    assert.deepEqual(await world.outcomes(a), ['raised sent'])
  })

  it('is not lost when its silence ends while it is judged', async () => {
    await using world = await waitingWorld(dialect)
    const a = await world.raise('a')
    const { endsAt } = await world.silence('a')
    const [isJudged, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const judging = world.store.write(async (tx) => {
      await world.notifier.judgeAgain(tx, 'robot', await listWaiting(tx, 'robot', world.clock.now()))
      isJudged.resolve()
      await mayCommit.promise
    })
    await isJudged.promise
    world.clock.advance(endsAt + SETTLE_MS - world.clock.now())
    const settling = world.silences.settleEnded(new AbortController().signal)
    if (dialect === 'postgres') await eventually('the end waits for the transition', () => isWaiting(world))
    mayCommit.resolve()
    await Promise.all([judging, settling])
    assert.deepEqual(await world.outcomes(a), ['raised silenced', 'silence_ended pending'])
  })
})

async function isWaiting(world: NotificationWorld): Promise<boolean> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await world.rows(waiting)).length > 0
}

/** A sender whose process dies when the robot has shown its message. */
async function dieAfterSending(world: NotificationWorld): Promise<void> {
  const { store, webhook } = world
  const activity = { calls: 0 }
  const forEver = new Promise<never>(() => undefined)
  let isDead = false
  world.sender({
    activity,
    store: { ...store, write: (work, options) => (isDead ? forEver : store.write(work, options)) },
    channel: {
      rate: webhook.rate,
      fits: (message) => webhook.fits(message),
      async send(message, signal) {
        await webhook.send(message, signal)
        isDead = true
        return forEver
      },
    },
  })
  await world.idle(activity)
  world.clock.advance(GATHER_MS)
  await eventually('the robot has the message', () => isDead)
}
