import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../../kernel/errors.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { noMetrics } from '../../../kernel/metrics.ts'
import { DAY, HOUR, SECOND } from '../../../kernel/time.ts'
import { alertWorld, FAILED, type AlertWorld } from '../../../../test/support/alerts.ts'
import { onEveryDialect } from '../../../../test/support/store.ts'
import { createSuppressions } from '../index.ts'
import { SETTLE_MS, type NewSilence } from './model.ts'
import { Silences, type SilenceDeps } from './service.ts'

const PAGE = { limit: 100 }

const EACH_NOON = {
  days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  from: '11:00',
  to: '13:00',
  timeZone: 'UTC',
} as const

const inOrder = (a: string, b: string) => a.localeCompare(b)

const running = () => new AbortController().signal

function wantedIn(world: AlertWorld, wanted: Partial<NewSilence> = {}): NewSilence {
  const endsAt = world.clock.now() + HOUR
  return { matchers: { alarmId: 'backup.*' }, reason: 'Maintenance', endsAt, ...wanted }
}

/** The silences of a process whose work on an end is `endSilence`. */
function silencesOf({ store, clock }: AlertWorld, endSilence: SilenceDeps['alerts']['endSilence']): Silences {
  return new Silences({
    store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    events: { append: async () => undefined },
    alerts: { endSilence, raise: async () => undefined, recoverIfRaised: async () => undefined },
  })
}

async function settle(world: AlertWorld): Promise<void> {
  world.clock.advance(SETTLE_MS)
  await world.silences.settleEnded(running())
}

const endedOf = ({ noticed }: AlertWorld) =>
  noticed
    .flatMap(({ kind, alarmId }) => (kind === 'silence_ended' ? [String(alarmId)] : []))
    .toSorted(inOrder)

onEveryDialect('a silence', (dialect) => {
  it('is created, listed by its state, and ended', async () => {
    await using world = await alertWorld(dialect)
    const now = world.clock.now()
    const silence = await world.silences.create(wantedIn(world), 'anna')
    assert.deepEqual(silence, {
      id: silence.id,
      matchers: { alarmId: 'backup.*' },
      labelMatchers: null,
      reason: 'Maintenance',
      startsAt: now,
      endsAt: now + HOUR,
      repeat: null,
      windowStartsAt: null,
      windowEndsAt: null,
      seenAt: now,
      createdBy: 'anna',
      createdAt: now,
      endedBy: null,
      version: 1,
      state: 'active',
    })
    const later = await world.silences.create(
      wantedIn(world, { startsAt: now + HOUR, endsAt: now + 2 * HOUR }),
      'anna',
    )
    const idsOf = async (state?: 'active' | 'pending' | 'ended') =>
      (await world.silences.list(state, PAGE)).items.map(({ id }) => id)
    assert.deepEqual(await world.silences.get(silence.id), silence)
    assert.deepEqual(await idsOf(), [later.id, silence.id])
    assert.deepEqual([await idsOf('active'), await idsOf('pending')], [[silence.id], [later.id]])
    await world.silences.end(silence.id, 'bo')
    await world.silences.end(later.id, 'bo')
    assert.deepEqual(await idsOf('ended'), [later.id, silence.id])
    const { items } = await world.silences.list('ended', PAGE)
    assert.deepEqual([items[1]?.endsAt, items[1]?.endedBy], [now, 'bo'])
    await world.silences.end(silence.id, 'carl')
    assert.equal((await world.silences.list('ended', PAGE)).items[1]?.endedBy, 'bo')
    assert.deepEqual(world.silenceEvents, [
      'silence.created',
      'silence.created',
      'silence.ended',
      'silence.ended',
    ])
  })

  it('lasts 30 days at most, and ends in the future and after its start', async () => {
    await using world = await alertWorld(dialect)
    const now = world.clock.now()
    const refused = async (wanted: Partial<NewSilence>) =>
      assert.rejects(
        world.silences.create(wantedIn(world, wanted), 'anna'),
        (error) => error instanceof AppError && error.details?.[0]?.path === 'ends_at',
      )
    await refused({ endsAt: now })
    await refused({ startsAt: now + HOUR, endsAt: now + HOUR })
    await refused({ endsAt: now + 30 * DAY + 1 })
    await refused({ startsAt: now - 1, endsAt: now + 30 * DAY })
    await world.silences.create(wantedIn(world, { endsAt: now + 30 * DAY }), 'anna')
    await world.silences.create(wantedIn(world, { startsAt: now - HOUR }), 'anna')
  })

  it('that does not exist cannot be ended', async () => {
    await using world = await alertWorld(dialect)
    await assert.rejects(
      world.silences.end('nowhere', 'anna'),
      (error) => error instanceof AppError && error.code === 'silence_not_found',
    )
  })

  it('names itself for the alerts that it matches, while it is active', async () => {
    await using world = await alertWorld(dialect)
    const { silencedBy } = createSuppressions(world.clock)
    const { alert } = await world.alerts.report(FAILED, 'anna')
    const nameOf = async () => (await world.store.write((tx) => silencedBy(tx, alert)))?.reason
    assert.equal(await nameOf(), undefined)
    await world.silences.create(wantedIn(world), 'anna')
    assert.equal(await nameOf(), 'Maintenance')
    world.clock.advance(HOUR)
    assert.equal(await nameOf(), undefined)
  })
})

onEveryDialect('a silence that repeats', (dialect) => {
  // Saturdays from 02:00 to 04:00 in Berlin, from a Friday on.
  const FRIDAY = Date.parse('2026-11-27T12:00:00Z')
  const SATURDAY = Date.parse('2026-11-28T01:00:00Z')
  const repeat = { days: ['sat'], from: '02:00', to: '04:00', timeZone: 'Europe/Berlin' } as const

  async function openedOnFriday(wanted: Partial<NewSilence> = {}) {
    const world = await alertWorld(dialect)
    world.clock.advance(FRIDAY - world.clock.now())
    const silence = await world.silences.create(
      { matchers: { alarmId: 'backup.*' }, reason: 'Nightly', repeat, ...wanted },
      'anna',
    )
    const stateNow = async () => {
      const { state } = await world.silences.get(silence.id)
      const listed = (await world.silences.list(state, PAGE)).items
      assert.deepEqual(
        listed.map(({ id }) => id),
        [silence.id],
      )
      return state
    }
    const goTo = async (at: number) => {
      world.clock.advance(at - world.clock.now())
      await world.silences.settleEnded(running())
    }
    return { world, silence, stateNow, goTo }
  }

  it('is active in its windows, and pending between them', async () => {
    const { world, silence, stateNow, goTo } = await openedOnFriday()
    await using _ = world
    assert.equal(silence.endsAt, FRIDAY + 366 * DAY)
    assert.equal(await stateNow(), 'pending')
    await goTo(SATURDAY)
    assert.equal(await stateNow(), 'active')
    await goTo(SATURDAY + 2 * HOUR + SETTLE_MS)
    assert.equal(await stateNow(), 'pending')
    assert.deepEqual(
      world.silences.windows(silence).map(({ startsAt, endsAt }) => [startsAt - SATURDAY, endsAt - startsAt]),
      [1, 2, 3, 4, 5].map((weeks) => [weeks * 7 * DAY, 2 * HOUR]),
    )
    await goTo(SATURDAY + 7 * DAY)
    assert.equal(await stateNow(), 'active')
    assert.equal(world.silences.windows(silence)[0]?.startsAt, SATURDAY + 7 * DAY)
    await world.silences.end(silence.id, 'anna')
    assert.equal(await stateNow(), 'ended')
    assert.deepEqual(world.silences.windows(await world.silences.get(silence.id)), [])
  })

  it('tells at the end of each window what fires', async () => {
    const { world, goTo } = await openedOnFriday()
    await using _ = world
    await goTo(SATURDAY)
    await world.report(FAILED)
    await goTo(SATURDAY + 2 * HOUR)
    assert.deepEqual(endedOf(world), [])
    await goTo(SATURDAY + 2 * HOUR + SETTLE_MS)
    await goTo(SATURDAY + 3 * HOUR)
    assert.deepEqual(endedOf(world), [FAILED.alarmId])
    await goTo(SATURDAY + 7 * DAY + 2 * HOUR + SETTLE_MS)
    assert.equal(endedOf(world).length, 2)
    assert.deepEqual(world.silenceEvents, ['silence.created'])
  })

  it('says a day before its last end that it ends', async () => {
    const endsAt = SATURDAY + 20 * DAY
    const { world, silence, goTo } = await openedOnFriday({ endsAt })
    await using _ = world
    const ending = async () => (await world.alerts.findByAlarmId(`silence.ending:${silence.id}`))?.status
    for (let week = 0; week < 3; week++) await goTo(SATURDAY + week * 7 * DAY + 3 * HOUR)
    assert.equal(await ending(), undefined)
    await goTo(endsAt - DAY)
    assert.equal(await ending(), 'firing')
    await goTo(endsAt + SETTLE_MS)
    assert.equal(await ending(), 'recovered')
    assert.deepEqual(world.silenceEvents, ['silence.created', 'silence.ended'])
  })

  it('lasts 366 days at most, and has a window', async () => {
    const { world } = await openedOnFriday()
    await using _ = world
    const refused = async (wanted: Partial<NewSilence>, path: string) =>
      assert.rejects(
        world.silences.create({ matchers: { source: '*' }, reason: 'r', ...wanted }, 'anna'),
        (error) => error instanceof AppError && error.details?.[0]?.path === path,
      )
    await refused({ repeat, endsAt: FRIDAY + 366 * DAY + 1 }, 'ends_at')
    await refused({ repeat, endsAt: SATURDAY }, 'repeat')
    await refused({}, 'ends_at')
  })
})

onEveryDialect('the end of a silence', (dialect) => {
  it('is announced once to the firing alerts that it has matched', async () => {
    await using world = await alertWorld(dialect)
    await world.silences.create(wantedIn(world), 'anna')
    for (const alarmId of ['backup.a', 'backup.b', 'backup.c', 'other'])
      await world.report({ ...FAILED, alarmId })
    const { alert } = await world.report({ ...FAILED, alarmId: 'backup.d' })
    await world.alerts.acknowledge(alert.id, null, 'anna')
    await world.report({ ...FAILED, alarmId: 'backup.c', level: 'CLOSE' })
    world.clock.advance(HOUR - SETTLE_MS)
    await settle(world)
    assert.deepEqual(endedOf(world), [])
    await settle(world)
    assert.deepEqual(endedOf(world), ['backup.a', 'backup.b'])
    assert.deepEqual(world.silenceEvents, ['silence.created', 'silence.ended'])
    await settle(world)
    assert.equal(endedOf(world).length, 2)
  })

  it('by hand is announced to the bus at once, and to the alerts by the job', async () => {
    await using world = await alertWorld(dialect)
    const silence = await world.silences.create(wantedIn(world), 'anna')
    await world.report(FAILED)
    await world.silences.end(silence.id, 'anna')
    assert.deepEqual(world.silenceEvents, ['silence.created', 'silence.ended'])
    await settle(world)
    assert.deepEqual(endedOf(world), [FAILED.alarmId])
    assert.equal(world.silenceEvents.length, 2)
  })

  it('is processed by one process, and by another one if the first one dies', async () => {
    await using world = await alertWorld(dialect)
    await using other = await world.otherProcess()
    await world.silences.create(wantedIn(world), 'anna')
    for (let number = 0; number < 150; number++)
      await world.report({ ...FAILED, alarmId: `backup.${number}` })
    world.clock.advance(HOUR + SETTLE_MS)
    const begun = Promise.withResolvers<void>()
    const dying = silencesOf(world, () => (begun.resolve(), new Promise(() => undefined)))
    void dying.settleEnded(running())
    await begun.promise
    await other.silences.settleEnded(running())
    assert.deepEqual(endedOf(world), [])
    world.clock.advance(HOUR)
    await Promise.all([world.silences.settleEnded(running()), other.silences.settleEnded(running())])
    assert.equal(endedOf(world).length, 150)
    assert.deepEqual(world.silenceEvents, ['silence.created', 'silence.ended'])
  })

  it('is processed by another process at once when the first one stops or fails', async () => {
    await using world = await alertWorld(dialect)
    await using other = await world.otherProcess()
    const stop = async (stopping: AbortController) => stopping.abort()
    const fail = async () => {
      throw new Error('the database is away')
    }
    for (const [number, end] of [stop, fail].entries()) {
      await world.silences.create(wantedIn(world), 'anna')
      await world.report({ ...FAILED, alarmId: `backup.${number}` })
      world.clock.advance(HOUR + SETTLE_MS)
      const stopping = new AbortController()
      const first = silencesOf(world, () => end(stopping))
      await first.settleEnded(stopping.signal).catch(() => undefined)
      await other.silences.settleEnded(running())
      assert.ok(endedOf(world).includes(`backup.${number}`))
    }
  })

  it('is forgotten with the silence when alerts of that age are removed', async () => {
    await using world = await alertWorld(dialect)
    await world.silences.create(wantedIn(world), 'anna')
    world.clock.advance(HOUR)
    await settle(world)
    assert.equal(await world.silences.prune(world.clock.now() - SETTLE_MS), 0)
    assert.equal(await world.silences.prune(world.clock.now()), 1)
    assert.deepEqual((await world.silences.list(undefined, PAGE)).items, [])
  })
})

onEveryDialect('a silence that a clock has begun which was set back since', (dialect) => {
  it('holds nothing back, and its alerts are judged again once', async () => {
    await using world = await alertWorld(dialect)
    await world.silences.create(wantedIn(world, { matchers: { source: FAILED.source } }), 'anna')
    await world.report(FAILED)
    const ends = () => world.noticed.filter(({ kind }) => kind === 'silence_ended').length
    await settle(world)
    assert.equal(ends(), 0)
    for (const expected of [1, 2]) {
      world.clock.jump(-8 * HOUR)
      await settle(world)
      await settle(world)
      assert.equal(ends(), expected)
      world.clock.jump(8 * HOUR)
      await settle(world)
    }
    assert.equal(ends(), 2)
  })

  it('stays ended once its end is recorded, and what it has held back is judged at once', async () => {
    await using world = await alertWorld(dialect)
    const { silencedBy } = createSuppressions(world.clock)
    const over = await world.silences.create(wantedIn(world), 'anna')
    const ended = await world.silences.create(
      wantedIn(world, { endsAt: world.clock.now() + 5 * HOUR }),
      'anna',
    )
    const { alert } = await world.alerts.report(FAILED, 'anna')
    world.clock.advance(HOUR)
    await settle(world)
    await world.silences.end(ended.id, 'anna')
    world.clock.jump(-3 * HOUR)
    const before = endedOf(world).length
    await world.silences.settleEnded(running())
    assert.equal(endedOf(world).length, before + 1)
    await world.silences.settleEnded(running())
    assert.equal(endedOf(world).length, before + 1)
    for (const { id } of [over, ended]) assert.equal((await world.silences.get(id)).state, 'ended')
    assert.equal(await world.store.write((tx) => silencedBy(tx, alert)), undefined)
  })
})

onEveryDialect('a silence that repeats, on a clock that is set back and forth', (dialect) => {
  /** In the middle of a window of two hours of each day. */
  async function repeatingWorld() {
    const world = await alertWorld(dialect)
    const middle = Date.UTC(2026, 5, 10, 12)
    world.clock.jump(middle - HOUR - DAY - world.clock.now())
    const matchers = { source: FAILED.source }
    const { id } = await world.silences.create({ matchers, reason: 'again', repeat: EACH_NOON }, 'anna')
    world.clock.jump(middle - world.clock.now())
    await world.silences.settleEnded(running())
    await world.report(FAILED)
    const ends = endedOf(world).length
    const { silencedBy } = createSuppressions(world.clock)
    return {
      world,
      ends: () => endedOf(world).length - ends,
      async jump(milliseconds: number) {
        world.clock.jump(milliseconds)
        await world.silences.settleEnded(running())
        await world.silences.settleEnded(running())
      },
      state: async () => (await world.silences.get(id)).state,
      isHeld: async () => {
        const { alert } = await world.alerts.report(FAILED, 'anna')
        return (await world.store.write((tx) => silencedBy(tx, alert))) !== undefined
      },
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    }
  }

  it('holds nothing back before its beginning, and holds back again after it', async () => {
    await using w = await repeatingWorld()
    assert.deepEqual([await w.state(), await w.isHeld()], ['active', true])
    await w.jump(-3 * HOUR)
    assert.deepEqual([w.ends(), await w.state(), await w.isHeld()], [1, 'pending', false])
    await w.jump(3 * HOUR)
    assert.deepEqual([w.ends(), await w.state(), await w.isHeld()], [1, 'active', true])
    await w.jump(2 * HOUR)
    assert.deepEqual([w.ends(), await w.state(), await w.isHeld()], [2, 'pending', false])
  })

  it('is active in a window that comes again, and ends again', async () => {
    await using w = await repeatingWorld()
    for (const end of [1, 2]) {
      await w.jump(2 * HOUR)
      assert.deepEqual([w.ends(), await w.state()], [end, 'pending'])
      await w.jump(-2 * HOUR)
      assert.deepEqual([w.ends(), await w.state(), await w.isHeld()], [end, 'active', true])
    }
    await w.jump(-DAY)
    assert.deepEqual([await w.state(), await w.isHeld()], ['active', true], 'the window of the day before')
    await w.jump(2 * DAY)
    await w.jump(2 * HOUR)
    assert.equal(await w.state(), 'pending')
  })

  it('has ended when its end was worked on, whatever a small correction of the clock says', async () => {
    await using w = await repeatingWorld()
    await w.jump(HOUR + SETTLE_MS)
    assert.equal(w.ends(), 1)
    await w.jump(-10 * SECOND)
    assert.deepEqual([w.ends(), await w.state(), await w.isHeld()], [1, 'pending', false])
  })
})

onEveryDialect('the calendar of silences', (dialect) => {
  it('has the windows of a week that have not ended when it begins, by their beginning', async () => {
    await using world = await alertWorld(dialect)
    const now = world.clock.now()
    const repeat = { days: ['sat', 'sun'], from: '02:00', to: '06:00', timeZone: 'UTC' } as const
    const matchers = { source: 'shop' }
    await world.silences.create({ matchers, reason: 'again', repeat }, 'anna')
    await world.silences.create({ matchers, reason: 'x'.repeat(200), endsAt: now + HOUR }, 'anna')
    await world.silences.create(
      { matchers, reason: 'later', startsAt: now + 8 * DAY, endsAt: now + 9 * DAY },
      'anna',
    )
    const shown = async (startsAt: number) =>
      (await world.silences.calendar(startsAt)).map(({ reason, startsAt: at }) => [
        reason.slice(0, 5),
        Math.round((at - now) / HOUR),
      ])
    // The clock begins on a Saturday at 02:00.
    assert.deepEqual(await shown(now), [
      ['xxxxx', 0],
      ['again', 0],
      ['again', 24],
    ])
    assert.deepEqual(await shown(now + 2 * DAY), [
      ['again', 7 * 24],
      ['later', 8 * 24],
      ['again', 8 * 24],
    ])
  })
})

onEveryDialect('any sequence of reports, silences and waits', (dialect) => {
  const NAMES = ['a', 'ab', 'b'] as const
  const step = fc.oneof(
    fc.record({
      kind: fc.constantFrom('raise', 'close', 'silence', 'silence*'),
      name: fc.constantFrom(...NAMES),
    }),
    fc.record({ kind: fc.constant('wait'), name: fc.constantFrom(...NAMES) }),
  )

  it('announces each end to the alerts that the silence has matched and that fire at that time', async () => {
    await using world = await alertWorld(dialect)
    const { silencedBy } = createSuppressions(world.clock)
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
        const prefix = `run ${run++} `
        const firing = new Set<string>()
        let silences: { pattern: string; endsAt: number }[] = []
        const expected: string[] = []
        const isMatch = (pattern: string, name: string) =>
          pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
        const first = world.noticed.length
        for (const { kind, name } of steps) {
          if (kind === 'raise' || kind === 'close') {
            const level = kind === 'raise' ? 'ERROR' : 'CLOSE'
            const report = { ...FAILED, alarmId: prefix + name, level } as const
            const { alert } = await world.alerts.report(report, 'anna')
            if (kind === 'raise') firing.add(name)
            else firing.delete(name)
            const isSilenced = (await world.store.write((tx) => silencedBy(tx, alert))) !== undefined
            assert.equal(
              isSilenced,
              silences.some(({ pattern }) => isMatch(pattern, name)),
            )
          } else if (kind === 'wait') {
            world.clock.advance(HOUR / 2)
            const now = world.clock.now()
            for (const { pattern } of silences.filter(({ endsAt }) => endsAt <= now))
              expected.push(
                ...[...firing].filter((each) => isMatch(pattern, each)).map((each) => prefix + each),
              )
            silences = silences.filter(({ endsAt }) => endsAt > now)
            await settle(world)
          } else {
            const pattern = kind === 'silence*' ? `${name}*` : name
            const wanted = wantedIn(world, { matchers: { alarmId: prefix + pattern } })
            await world.silences.create(wanted, 'anna')
            silences.push({ pattern, endsAt: wanted.endsAt ?? 0 })
          }
        }
        const ended = world.noticed.slice(first).filter((each) => each.kind === 'silence_ended')
        assert.deepEqual(
          ended.map(({ alarmId }) => String(alarmId)).toSorted(inOrder),
          expected.toSorted(inOrder),
        )
        world.clock.advance(DAY)
        await settle(world)
      }),
      { numRuns: 20 },
    )
  })
})
