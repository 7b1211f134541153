import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../kernel/time.ts'
import type { RegisteredSession, SessionRegistry } from '../../ports/session-registry.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import {
  FIRST_PAGE,
  HEARTBEAT_MS,
  vpnOn,
  vpnStoreWorld,
  type VpnStoreWorld,
} from '../../../test/support/vpn-store.ts'

const DEAD_MS = 3 * HEARTBEAT_MS
const GONE = { code: 1006, reason: 'the connection was lost' }

const hasCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

async function closed(registry: SessionRegistry, { id }: RegisteredSession) {
  await registry.close([{ id, ...GONE }])
}

async function alive({ vpn }: VpnStoreWorld): Promise<Record<string, boolean>> {
  const { gateways } = await vpn.tunnels()
  return Object.fromEntries(gateways.map((gateway) => [gateway.name, gateway.alive]))
}

/** Oldest first. */
async function trail({ vpn }: VpnStoreWorld) {
  const { items } = await vpn.audit({}, FIRST_PAGE)
  return items.toReversed()
}

onEveryDialect('the registry', (dialect) => {
  test('leases addresses from the first one on, and writes session, audit line and event together', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const one = await registry.register(w.request('ada', 'laptop'))
    const two = await registry.register(w.request('bob'))
    assert.deepEqual([one.virtualIp, two.virtualIp], ['100.64.0.2', '100.64.0.3'])
    assert.equal(one.prefixLength, 24)
    const { items } = await w.vpn.list({}, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ id, device, virtualIp }) => [id, device, virtualIp]),
      [
        [two.id, null, two.virtualIp],
        [one.id, 'laptop', one.virtualIp],
      ],
    )
    const [line] = await trail(w)
    assert.equal(line?.event, 'session_registered')
    const [event] = await w.messages.pending(10, [])
    assert.equal(event?.subject, 'vpn.audit.session_registered')
    assert.deepEqual(JSON.parse(event?.payload ?? '').data, {
      id: line?.id,
      at: '2026-01-31T02:00:00.000Z',
      event: 'session_registered',
      session_id: one.id,
      user_id: w.ids.get('ada'),
      gateway: 'primary',
      remote_address: '192.0.2.10',
      reason: null,
    })
    assert.equal(JSON.parse(event?.payload ?? '').subject, one.id)
  })

  test('gives a device its address back, also while that cools down', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [here, there] = [await w.joined('primary'), await w.joined('standby')]
    const first = await here.register(w.request('ada', 'laptop'))
    await closed(here, first)
    assert.equal((await there.register(w.request('bob', 'laptop'))).virtualIp, '100.64.0.3')
    assert.equal((await there.register(w.request('ada', 'laptop'))).virtualIp, first.virtualIp)
  })

  test('keeps a released address from others until it is cool, and turns to what was never used first', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.0/29' })
    const registry = await w.joined('primary')
    const sessions: RegisteredSession[] = []
    for (let index = 0; index < 4; index++) sessions.push(await registry.register(w.request('ada')))
    const [one, two] = sessions
    assert.ok(one && two)
    await closed(registry, two)
    w.clock.advance(SECOND)
    await closed(registry, one)
    assert.equal((await registry.register(w.request('bob'))).virtualIp, '100.64.0.6', 'the last unused one')
    w.clock.advance(59 * SECOND - 1)
    await assert.rejects(registry.register(w.request('bob')), hasCode('pool_exhausted'))
    assert.deepEqual(await w.vpn.pool(), { cidr: '100.64.0.0/29', size: 5, used: 3, cooling: 2, free: 0 })
    w.clock.advance(1)
    assert.equal((await registry.register(w.request('bob'))).virtualIp, two.virtualIp, 'released first')
    await assert.rejects(registry.register(w.request('bob')), hasCode('pool_exhausted'))
    w.clock.advance(SECOND)
    assert.equal((await registry.register(w.request('bob'))).virtualIp, one.virtualIp)
  })

  test('an exhausted pool changes nothing and is told as unavailable', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.0/30' })
    const registry = await w.joined('primary')
    await registry.register(w.request('ada', 'laptop'))
    await assert.rejects(registry.register(w.request('bob', 'phone')), (error) => {
      assert.ok(error instanceof AppError)
      assert.deepEqual([error.kind, error.code], ['unavailable', 'pool_exhausted'])
      return true
    })
    assert.equal((await trail(w)).length, 1)
    assert.equal((await registry.register(w.request('ada', 'laptop'))).virtualIp, '100.64.0.2', 'replaced')
  })

  test('remembers nothing of a session without a device', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    await closed(registry, await registry.register(w.request('ada')))
    assert.equal((await registry.register(w.request('ada'))).virtualIp, '100.64.0.3')
  })

  test('a second connection of a device ends the first one at whatever gateway, and keeps the address', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [here, there] = [await w.joined('primary'), await w.joined('standby')]
    const first = await here.register(w.request('ada', 'laptop'))
    const second = await there.register(w.request('ada', 'laptop'))
    assert.equal(second.virtualIp, first.virtualIp)
    const end = { id: first.id, code: 4409, reason: 'the device has connected again' }
    assert.deepEqual(await here.ended(), [end])
    assert.deepEqual(await here.ended(), [end], 'as long as it is not acknowledged')
    assert.deepEqual(await there.ended(), [])
    await closed(here, first)
    await here.acknowledge([first.id])
    assert.deepEqual(await here.ended(), [])
    const { items } = await w.vpn.list({}, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ id }) => id),
      [second.id],
    )
    assert.deepEqual(
      (await trail(w)).map(({ event, reason }) => [event, reason]),
      [
        ['session_registered', null],
        ['session_closed', 'the device has connected again'],
        ['session_registered', null],
      ],
    )
  })

  test('one of many connections of a device at once is left, wherever they arrive', async () => {
    await using w = await vpnStoreWorld(dialect)
    const gateways = [await w.joined('primary'), await w.joined('standby')]
    const connect = async (index: number) => gateways[index % 2]?.register(w.request('ada', 'laptop'))
    const made = await Promise.all(Array.from({ length: 8 }, (_, index) => connect(index)))
    const { items } = await w.vpn.list({}, FIRST_PAGE)
    assert.equal(items.length, 1)
    const ends = (await Promise.all(gateways.map((each) => each.ended()))).flat()
    assert.equal(ends.length, 7)
    assert.equal(new Set(made.map((session) => session?.virtualIp)).size, 1, 'the address was kept')
  })

  test('many at once get an address each', async () => {
    await using w = await vpnStoreWorld(dialect)
    const gateways = [await w.joined('primary'), await w.joined('standby')]
    const connect = async (index: number) => gateways[index % 2]?.register(w.request('ada', `d${index}`))
    const made = await Promise.all(Array.from({ length: 100 }, (_, index) => connect(index)))
    assert.equal(new Set(made.map((session) => session?.virtualIp)).size, 100)
    assert.equal((await w.vpn.pool()).used, 100)
  })

  test('a token that a change has ended opens no session, and leases no address', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const stale = w.request('ada', 'laptop')
    await w.users.change(w.ids.get('ada') ?? '', { roles: ['auditor'] })
    await assert.rejects(registry.register(stale), hasCode('unauthenticated'))
    await assert.rejects(registry.register(w.request('nobody')), hasCode('unauthenticated'))
    assert.equal((await w.vpn.pool()).used, 0)
    assert.deepEqual(await trail(w), [])
  })

  test('a change of the user that meets a new session either refuses or ends it', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const id = w.ids.get('ada') ?? ''
    const registering = Array.from({ length: 20 }, (_, index) =>
      registry.register(w.request('ada', `d${index}`)),
    )
    const changing = w.users.change(id, { enabled: false })
    const outcomes = await Promise.allSettled(registering)
    await changing
    assert.deepEqual((await w.vpn.list({}, FIRST_PAGE)).items, [])
    const opened = outcomes.filter(({ status }) => status === 'fulfilled').length
    assert.equal((await registry.ended()).length, opened)
  })

  test('a session is closed once, and only by the gateway that holds it', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [here, there] = [await w.joined('primary'), await w.joined('standby')]
    const session = await here.register(w.request('ada', 'laptop'))
    await closed(there, session)
    assert.equal((await w.vpn.list({}, FIRST_PAGE)).items.length, 1)
    w.clock.advance(SECOND)
    await here.close([
      { id: session.id, code: 1000, reason: 'bye\0' },
      { id: session.id, ...GONE },
      { id: 'unknown', ...GONE },
    ])
    const { items } = await w.vpn.list({ state: 'closed' }, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ closedAt, closeCode }) => [closedAt, closeCode]),
      [[w.clock.now(), 1000]],
    )
    assert.deepEqual(
      (await trail(w)).map(({ event, reason }) => [event, reason]),
      [
        ['session_registered', null],
        ['session_closed', 'bye'],
      ],
    )
    assert.deepEqual(await here.ended(), [], 'it knows already')
  })

  test('a beat notes what was heard from sessions that live', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const [one, two] = [await registry.register(w.request('ada')), await registry.register(w.request('bob'))]
    await closed(registry, two)
    w.clock.advance(SECOND)
    const lastSeenAt = w.clock.now()
    await registry.beat([
      { id: one.id, lastSeenAt, rttMs: 12.3456 },
      { id: two.id, lastSeenAt, rttMs: 1 },
    ])
    const [live] = (await w.vpn.list({}, FIRST_PAGE)).items
    const [over] = (await w.vpn.list({ state: 'closed' }, FIRST_PAGE)).items
    assert.deepEqual([live?.lastSeenAt, live?.rttMs, over?.rttMs], [lastSeenAt, 12.346, null])
  })

  test('a gateway that was silent for three intervals loses its sessions, and learns of it when it wakes', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.0/29' })
    const [frozen, living] = [await w.joined('primary'), await w.joined('standby')]
    const session = await frozen.register(w.request('ada', 'laptop'))
    for (let index = 0; index < 4; index++) await living.register(w.request('bob', `d${index}`))
    await living.beat([])
    w.clock.advance(DEAD_MS - 1)
    await living.beat([])
    assert.equal((await w.vpn.pool()).used, 5)
    w.clock.advance(1)
    await living.beat([])
    assert.deepEqual(await w.vpn.pool(), { cidr: '100.64.0.0/29', size: 5, used: 4, cooling: 1, free: 0 })
    await assert.rejects(living.register(w.request('bob', 'other')), hasCode('pool_exhausted'))
    const again = await living.register(w.request('ada', 'laptop'))
    assert.equal(again.virtualIp, session.virtualIp, 'the former holder gets it at once')
    await closed(living, again)
    w.clock.advance(MINUTE)
    assert.equal((await living.register(w.request('bob', 'other'))).virtualIp, session.virtualIp)
    assert.deepEqual(await frozen.ended(), [
      { id: session.id, code: 1001, reason: 'the gateway was silent for too long' },
    ])
    await frozen.acknowledge([session.id])
    await frozen.beat([])
    assert.equal(
      (await w.vpn.tunnels()).gateways.every(({ alive }) => alive),
      true,
    )
  })

  test('a worker reclaims as well, and what lives is left alone', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [silent, living] = [await w.joined('primary'), await w.joined('standby')]
    for (let index = 0; index < 120; index++) await silent.register(w.request('ada', `d${index}`))
    await living.register(w.request('bob', 'phone'))
    assert.equal(await w.vpn.reclaim(), 0)
    w.clock.advance(DEAD_MS - 1)
    await living.beat([])
    assert.equal(await w.vpn.reclaim(), 0)
    w.clock.advance(1)
    assert.equal(await w.vpn.reclaim(), 120)
    assert.equal(await w.vpn.reclaim(), 0)
    assert.equal((await w.vpn.list({}, FIRST_PAGE)).items.length, 1)
  })

  for (const jump of [2 * HOUR, -DAY, 12 * 365 * DAY]) {
    test(`no gateway is taken for dead because a clock was set by ${jump / HOUR} hours`, async () => {
      await using w = await vpnStoreWorld(dialect)
      const [one, other] = [await w.joined('primary'), await w.joined('standby')]
      const { id } = await one.register(w.request('ada', 'laptop'))
      await other.beat([])
      w.clock.jump(jump)
      for (let beats = 0; beats < 10; beats++) {
        await other.beat([])
        assert.equal(await w.vpn.reclaim(), 0)
        assert.deepEqual(await alive(w), { primary: true, standby: true })
        w.clock.advance(HEARTBEAT_MS / 3)
        await one.beat([])
      }
      await other.beat([])
      w.clock.advance(DEAD_MS)
      await other.beat([])
      assert.deepEqual(
        (await one.ended()).map((end) => end.id),
        [id],
      )
      assert.deepEqual(await alive(w), { primary: false, standby: true })
    })
  }

  for (const skew of [100 * SECOND, -100 * SECOND]) {
    test(`gateways whose clocks differ by ${skew / SECOND} s watch each other as if they agreed`, async () => {
      await using w = await vpnStoreWorld(dialect)
      const skewed = fakeClock(w.clock.now() + skew)
      const there = vpnOn(w.store, skewed)
      const [here, far] = [await w.joined('primary'), there.registryOf('standby')]
      await far.join()
      const [one, two] = [await here.register(w.request('ada')), await far.register(w.request('bob'))]
      for (let beats = 0; beats < 10; beats++) {
        await Promise.all([here.beat([]), far.beat([])])
        assert.deepEqual([await here.ended(), await far.ended()], [[], []])
        for (const clock of [w.clock, skewed]) clock.advance(HEARTBEAT_MS / 3)
      }
      assert.deepEqual(await alive(w), { primary: true, standby: true })
      assert.deepEqual(
        (await w.vpn.list({}, FIRST_PAGE)).items.map(({ id }) => id).toSorted(),
        [one.id, two.id].toSorted(),
      )
      await far.beat([])
      skewed.advance(DEAD_MS)
      await far.beat([])
      assert.deepEqual(
        (await here.ended()).map(({ id }) => id),
        [one.id],
      )
      assert.deepEqual(await alive(w), { primary: false, standby: true })
    })
  }

  test('an address that was released before the clock was set back does not stay away for as long', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.0/30' })
    const registry = await w.joined('primary')
    await closed(registry, await registry.register(w.request('ada', 'laptop')))
    w.clock.jump(-MINUTE)
    await assert.rejects(
      registry.register(w.request('bob')),
      hasCode('pool_exhausted'),
      'two clocks may differ',
    )
    w.clock.jump(-DAY)
    assert.deepEqual(await w.vpn.pool(), { cidr: '100.64.0.0/30', size: 1, used: 0, cooling: 0, free: 1 })
    assert.equal((await registry.register(w.request('bob'))).virtualIp, '100.64.0.2')
  })

  test('a gateway that dies while it ends what its earlier run has left is made up for by others', async () => {
    await using w = await vpnStoreWorld(dialect)
    const crashed = await w.joined('primary')
    await crashed.register(w.request('ada', 'laptop'))
    // What is left when it dies at the worst moment: the run is marked as gone, its sessions are live.
    await w.store.write(async ({ db }) => {
      await db.updateTable('vpn_gateways').set({ left_at: w.clock.now() }).execute()
    })
    assert.equal(await w.vpn.reclaim(), 0)
    w.clock.advance(DEAD_MS)
    assert.equal(await w.vpn.reclaim(), 1)
  })

  test('a gateway that starts again ends what its earlier run has left behind, and nothing of others', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [crashed, other] = [await w.joined('primary'), await w.joined('standby')]
    const lost = await crashed.register(w.request('ada', 'laptop'))
    const kept = await other.register(w.request('bob', 'phone'))
    const again = await w.joined('primary')
    const { items } = await w.vpn.list({}, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ id }) => id),
      [kept.id],
    )
    assert.equal((await again.register(w.request('ada', 'laptop'))).virtualIp, lost.virtualIp)
    assert.deepEqual(await again.ended(), [])
  })

  test('two gateways that bear the same name by mistake both go on after the first was cut', async () => {
    await using w = await vpnStoreWorld(dialect)
    const one = await w.joined('primary')
    const two = await w.joined('primary')
    await one.beat([])
    const session = await one.register(w.request('ada'))
    w.clock.advance(DEAD_MS - 1)
    await Promise.all([one.beat([]), two.beat([])])
    w.clock.advance(1)
    assert.equal(await w.vpn.reclaim(), 0)
    w.clock.advance(DEAD_MS)
    assert.equal(await w.vpn.reclaim(), 1, session.id)
  })

  test('a gateway that stops returns its addresses', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    await registry.register(w.request('ada', 'laptop'))
    await registry.leave()
    const [session] = (await w.vpn.list({ state: 'closed' }, FIRST_PAGE)).items
    assert.equal(session?.closeCode, 1001)
    assert.deepEqual(await registry.ended(), [])
    assert.deepEqual(
      (await w.vpn.tunnels()).gateways.map(({ name, alive }) => [name, alive]),
      [['primary', false]],
    )
  })

  test('an address of another pool is not handed out, and serves again when its pool does', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.32/30' })
    const small = await w.joined('primary')
    const old = await small.register(w.request('ada', 'laptop'))
    assert.equal(old.virtualIp, '100.64.0.34')
    await closed(small, old)

    const apart = await w.joined('primary', { pool: '10.0.0.0/30' })
    const moved = await apart.register(w.request('ada', 'laptop'))
    assert.equal(moved.virtualIp, '10.0.0.2')
    await assert.rejects(apart.register(w.request('bob')), hasCode('pool_exhausted'))

    const wide = await w.joined('primary', { pool: '100.64.0.0/26' })
    assert.equal((await wide.register(w.request('ada', 'laptop'))).virtualIp, old.virtualIp)
    w.clock.advance(MINUTE)
    const made = new Set<string>()
    for (let index = 0; index < 60; index++)
      made.add((await wide.register(w.request('bob', `d${index}`))).virtualIp)
    assert.equal(made.size, 60, 'every address but the one that is held')
    assert.ok(!made.has(old.virtualIp))
    await assert.rejects(wide.register(w.request('bob')), hasCode('pool_exhausted'))

    const smallAgain = await w.joined('primary', { pool: '100.64.0.32/30' })
    w.clock.advance(MINUTE)
    assert.equal((await smallAgain.register(w.request('bob'))).virtualIp, old.virtualIp)
  })

  test('a flood of bad tokens is a bounded number of lines in the trail', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const refuse = (remoteAddress: string) =>
      registry.refused({ remoteAddress, userId: undefined, reason: 'the token is forged' })
    for (let index = 0; index < 1_000; index++) await refuse(`192.0.2.${index % 200}`)
    assert.equal((await trail(w)).length, 60)
    w.clock.advance(MINUTE)
    await registry.beat([])
    const lines = await trail(w)
    assert.equal(lines.length, 121)
    assert.ok(lines.every(({ event, sessionId }) => event === 'auth_failed' && sessionId === null))
    assert.deepEqual(
      lines.filter(({ remoteAddress }) => remoteAddress === null).map(({ reason }) => reason),
      ['700 more refusals within a minute, from other addresses or for other reasons'],
    )
    const events = await w.messages.pending(1_000, [])
    assert.equal(JSON.parse(events[0]?.payload ?? '').subject, '192.0.2.0')
    assert.equal(JSON.parse(events.at(-1)?.payload ?? '').subject, 'primary')
  })

  test('a pool that fills raises an alert at 80 and at 95 percent, and recovers below 70', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.0/28' })
    const registry = await w.joined('primary')
    const sessions: RegisteredSession[] = []
    const alertAt = async (used: number) => {
      while (sessions.length < used) sessions.push(await registry.register(w.request('ada')))
      while (sessions.length > used) await closed(registry, sessions.pop() as RegisteredSession)
      w.clock.advance(MINUTE)
      await registry.beat([])
      const [alert] = (await w.alerts.list({}, FIRST_PAGE)).items
      return alert && [alert.status, alert.weight, alert.count]
    }
    assert.equal(await alertAt(10), undefined, '10 of 13 are 77 %')
    assert.deepEqual(await alertAt(11), ['firing', 3, 1])
    assert.deepEqual(await alertAt(11), ['firing', 3, 1], 'told once')
    assert.deepEqual(await alertAt(13), ['firing', 5, 2])
    assert.deepEqual(await alertAt(10), ['firing', 5, 2])
    assert.deepEqual(await alertAt(9), ['recovered', 0, 2])
    assert.deepEqual(await alertAt(11), ['firing', 3, 3])
  })
})
