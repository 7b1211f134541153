import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR, MINUTE, SECOND } from '../../kernel/time.ts'
import { sessionUpkeepJob } from './index.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import {
  aliveGateways,
  closeLost,
  DEAD_MS,
  FIRST_PAGE,
  HEARTBEAT_MS,
  vpnOn,
  vpnStoreWorld,
} from '../../../test/support/vpn-store.ts'

onEveryDialect('the registry and its gateways', (dialect) => {
  test('a beat records the signs of life of live sessions', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const [one, two] = [await registry.register(w.request('ada')), await registry.register(w.request('bob'))]
    await closeLost(registry, two)
    w.clock.advance(SECOND)
    const lastSeenAt = w.clock.now()
    await registry.beat([
      { id: one.id, lastSeenAt, rttMs: 12.3456 },
      { id: two.id, lastSeenAt, rttMs: 1 },
    ])
    const [live] = (await w.sessions.list({}, FIRST_PAGE)).items
    const [over] = (await w.sessions.list({ state: 'closed' }, FIRST_PAGE)).items
    assert.deepEqual([live?.lastSeenAt, live?.rttUs, over?.rttUs], [lastSeenAt, 12_346, null])
  })

  test('a gateway that was silent for three intervals loses its sessions, and sees their ends when it goes on', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.0/29' })
    const [frozen, living] = [await w.joined('primary'), await w.joined('standby')]
    const session = await frozen.register(w.request('ada', 'laptop'))
    for (let index = 0; index < 4; index++) await living.register(w.request('bob', `d${index}`))
    await w.beat(living)
    w.clock.advance(DEAD_MS - 1)
    await w.beat(living)
    assert.equal((await w.pool.usage()).used, 5)
    w.clock.advance(1)
    await w.beat(living)
    assert.deepEqual(await w.pool.usage(), { cidr: '100.64.0.0/29', size: 5, used: 4, cooling: 1, free: 0 })
    await assert.rejects(living.register(w.request('bob', 'other')), { code: 'pool_exhausted' })
    const again = await living.register(w.request('ada', 'laptop'))
    assert.equal(again.virtualIp, session.virtualIp, 'the last holder gets it at once')
    await closeLost(living, again)
    w.clock.advance(MINUTE)
    assert.equal((await living.register(w.request('bob', 'other'))).virtualIp, session.virtualIp)
    assert.deepEqual(await frozen.listEnds(), [
      { id: session.id, code: 1001, reason: 'the gateway was silent for too long' },
    ])
    await frozen.acknowledge([session.id])
    await frozen.beat([])
    assert.equal(
      (await w.sessions.tunnels()).gateways.every(({ alive }) => alive),
      true,
    )
  })

  test('only the sessions of silent gateways are closed', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [silent, living] = [await w.joined('primary'), await w.joined('standby')]
    for (let index = 0; index < 120; index++) await silent.register(w.request('ada', `d${index}`))
    await living.register(w.request('bob', 'phone'))
    assert.equal(await w.sessions.reclaim(), 0)
    w.clock.advance(DEAD_MS - 1)
    await w.beat(living)
    assert.equal(await w.sessions.reclaim(), 0)
    w.clock.advance(1)
    assert.equal(await w.sessions.reclaim(), 120)
    assert.equal(await w.sessions.reclaim(), 0)
    assert.equal((await w.sessions.list({}, FIRST_PAGE)).items.length, 1)
  })

  test('the sessions of a dead gateway are closed within two looks after three intervals', async () => {
    await using w = await vpnStoreWorld(dialect)
    const dead = await w.joined('primary')
    await dead.register(w.request('ada', 'laptop'))
    await dead.beat([])
    const lookMs = sessionUpkeepJob(w.sessions).everyMs
    // The last beat comes right after a look.
    w.clock.advance(lookMs)
    let passedMs = lookMs
    while ((await w.sessions.reclaim()) === 0) {
      w.clock.advance(lookMs)
      passedMs += lookMs
    }
    assert.equal(passedMs, DEAD_MS + lookMs)
    assert.equal(lookMs, SECOND)
  })

  for (const jump of [2 * HOUR, -DAY, 12 * 365 * DAY]) {
    test(`no gateway is presumed dead because a clock was set by ${jump / HOUR} hours`, async () => {
      await using w = await vpnStoreWorld(dialect)
      const [one, other] = [await w.joined('primary'), await w.joined('standby')]
      const { id } = await one.register(w.request('ada', 'laptop'))
      await w.beat(other)
      w.clock.jump(jump)
      for (let beats = 0; beats < 10; beats++) {
        await w.beat(other)
        assert.equal(await w.sessions.reclaim(), 0)
        assert.deepEqual(await aliveGateways(w), { primary: true, standby: true })
        w.clock.advance(HEARTBEAT_MS / 3)
        await one.beat([])
      }
      await w.beat(other)
      w.clock.advance(DEAD_MS)
      await w.beat(other)
      assert.deepEqual(
        (await one.listEnds()).map((end) => end.id),
        [id],
      )
      assert.deepEqual(await aliveGateways(w), { primary: false, standby: true })
    })
  }

  for (const skew of [100 * SECOND, -100 * SECOND]) {
    test(`gateways whose clocks differ by ${skew / SECOND} s watch each other correctly`, async () => {
      await using w = await vpnStoreWorld(dialect)
      const skewed = fakeClock(w.clock.now() + skew)
      const there = vpnOn(w.store, skewed)
      const [here, far] = [await w.joined('primary'), there.registryOf('standby')]
      await far.join()
      const [one, two] = [await here.register(w.request('ada')), await far.register(w.request('bob'))]
      for (let beats = 0; beats < 10; beats++) {
        await Promise.all([w.beat(here), far.beat([])])
        await there.sessions.reclaim()
        assert.deepEqual([await here.listEnds(), await far.listEnds()], [[], []])
        for (const clock of [w.clock, skewed]) clock.advance(HEARTBEAT_MS / 3)
      }
      assert.deepEqual(await aliveGateways(w), { primary: true, standby: true })
      assert.deepEqual(
        (await w.sessions.list({}, FIRST_PAGE)).items.map(({ id }) => id).toSorted(),
        [one.id, two.id].toSorted(),
      )
      await there.sessions.reclaim()
      await far.beat([])
      skewed.advance(DEAD_MS)
      await far.beat([])
      await there.sessions.reclaim()
      assert.deepEqual(
        (await here.listEnds()).map(({ id }) => id),
        [one.id],
      )
      assert.deepEqual(await aliveGateways(w), { primary: false, standby: true })
    })
  }

  test('an address that was released before the clock was set back can be leased', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.0/30' })
    const registry = await w.joined('primary')
    await closeLost(registry, await registry.register(w.request('ada', 'laptop')))
    w.clock.jump(-MINUTE)
    await assert.rejects(
      registry.register(w.request('bob')),
      { code: 'pool_exhausted' },
      'clocks may differ by a cool-down',
    )
    w.clock.jump(-DAY)
    assert.deepEqual(await w.pool.usage(), { cidr: '100.64.0.0/30', size: 1, used: 0, cooling: 0, free: 1 })
    assert.equal((await registry.register(w.request('bob'))).virtualIp, '100.64.0.2')
  })

  test('the sessions of a run that is marked as gone are closed by other processes', async () => {
    await using w = await vpnStoreWorld(dialect)
    const crashed = await w.joined('primary')
    await crashed.register(w.request('ada', 'laptop'))
    // As when its next run dies before it has closed them.
    await w.store.write(async ({ db }) => {
      await db.updateTable('vpn_gateways').set({ left_at: w.clock.now() }).execute()
    })
    assert.equal(await w.sessions.reclaim(), 0)
    w.clock.advance(DEAD_MS)
    assert.equal(await w.sessions.reclaim(), 1)
  })

  test('a gateway that restarts closes the sessions of its earlier run, and no others', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [crashed, other] = [await w.joined('primary'), await w.joined('standby')]
    const lost = await crashed.register(w.request('ada', 'laptop'))
    const kept = await other.register(w.request('bob', 'phone'))
    await w.crash('primary')
    const again = await w.joined('primary')
    const { items } = await w.sessions.list({}, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ id }) => id),
      [kept.id],
    )
    assert.equal((await again.register(w.request('ada', 'laptop'))).virtualIp, lost.virtualIp)
    assert.deepEqual(await again.listEnds(), [])
  })

  test('a gateway does not start while another one of its name lives', async () => {
    await using w = await vpnStoreWorld(dialect)
    const first = await w.joined('primary')
    const { id } = await first.register(w.request('ada', 'laptop'))
    await assert.rejects(w.registryOf('primary').join(), {
      code: 'gateway_name_in_use',
      message:
        'gateway.name: "primary" is in use by the gateway at primary:9994 since 2026-01-31T02:00:00.000Z; stop that ' +
        'gateway (on its host ss -ltnp shows its process), or set another gateway.name. On this host the name of a ' +
        'gateway that has crashed is free at once; on another host, or in another container, it is free after 90 s.',
    })
    w.clock.advance(DEAD_MS - 1)
    await first.beat([])
    w.clock.advance(DEAD_MS - 1)
    await assert.rejects(w.registryOf('primary').join(), { code: 'gateway_name_in_use' })
    assert.deepEqual(
      (await w.sessions.list({}, FIRST_PAGE)).items.map((session) => session.id),
      [id],
    )
    await first.leave()
    await w.joined('primary')
  })

  test('of two gateways of one name that start at the same moment one starts', async () => {
    await using w = await vpnStoreWorld(dialect)
    const joins = [w.registryOf('primary'), w.registryOf('primary')].map((registry) => registry.join())
    const outcomes = (await Promise.allSettled(joins)).map(({ status }) => status)
    assert.deepEqual(outcomes.toSorted(), ['fulfilled', 'rejected'])
  })

  test('the name of a gateway whose process cannot be seen is free after three intervals', async () => {
    await using w = await vpnStoreWorld(dialect)
    const silent = await w.joined('primary')
    const lost = await silent.register(w.request('ada', 'laptop'))
    w.clock.advance(DEAD_MS - 1)
    await assert.rejects(w.registryOf('primary').join(), { code: 'gateway_name_in_use' })
    w.clock.advance(1)
    const next = await w.joined('primary')
    assert.equal((await next.register(w.request('ada', 'laptop'))).virtualIp, lost.virtualIp)
    await silent.beat([])
    assert.deepEqual(
      (await silent.listEnds()).map(({ id }) => id),
      [lost.id],
      'a frozen gateway goes on without its sessions',
    )
  })
})
