import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import { formatIpv4 } from '../../kernel/ipv4.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../kernel/time.ts'
import type { RegisteredSession, SessionRegistry } from '../../ports/session-registry.ts'
import { sessionUpkeepJob } from './jobs.ts'
import type { SessionFilter } from './store.ts'
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

async function alive({ sessions }: VpnStoreWorld): Promise<Record<string, boolean>> {
  const { gateways } = await sessions.tunnels()
  return Object.fromEntries(gateways.map((gateway) => [gateway.name, gateway.alive]))
}

/** Oldest first. */
async function auditTrail({ sessions }: VpnStoreWorld) {
  const { items } = await sessions.audit({}, FIRST_PAGE)
  return items.toReversed()
}

onEveryDialect('the registry', (dialect) => {
  test('leases addresses in ascending order, and writes session, audit entry and event together', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const one = await registry.register(w.request('ada', 'laptop'))
    const two = await registry.register(w.request('bob'))
    assert.deepEqual([one.virtualIp, two.virtualIp], ['100.64.0.2', '100.64.0.3'])
    assert.equal(one.prefixLength, 24)
    const { items } = await w.sessions.list({}, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ id, device, address }) => [id, device, formatIpv4(address)]),
      [
        [two.id, null, two.virtualIp],
        [one.id, 'laptop', one.virtualIp],
      ],
    )
    const [line] = await auditTrail(w)
    assert.equal(line?.event, 'session_registered')
    const [event] = await w.messages.pending(10, [])
    assert.equal(event?.subject, 'vpn.audit.session_registered')
    assert.deepEqual(JSON.parse(event?.payload ?? '').data, {
      id: line?.id,
      at: '2026-01-31T02:00:00.000Z',
      event: 'session_registered',
      session_id: one.id,
      user_id: w.ids.get('ada'),
      user_name: 'ada',
      device: 'laptop',
      virtual_ip: '100.64.0.2',
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

  test('keeps a released address from other devices until the cool-down ends, and leases unused addresses first', async () => {
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
    assert.deepEqual(await w.pool.usage(), { cidr: '100.64.0.0/29', size: 5, used: 3, cooling: 2, free: 0 })
    w.clock.advance(1)
    assert.equal((await registry.register(w.request('bob'))).virtualIp, two.virtualIp, 'released first')
    await assert.rejects(registry.register(w.request('bob')), hasCode('pool_exhausted'))
    w.clock.advance(SECOND)
    assert.equal((await registry.register(w.request('bob'))).virtualIp, one.virtualIp)
  })

  test('a registration that finds no free address changes nothing and is refused as unavailable', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.0/30' })
    const registry = await w.joined('primary')
    await registry.register(w.request('ada', 'laptop'))
    await assert.rejects(registry.register(w.request('bob', 'phone')), (error) => {
      assert.ok(error instanceof AppError)
      assert.deepEqual([error.kind, error.code], ['unavailable', 'pool_exhausted'])
      return true
    })
    assert.equal((await auditTrail(w)).length, 1)
    assert.equal((await registry.register(w.request('ada', 'laptop'))).virtualIp, '100.64.0.2', 'replaced')
  })

  test('does not keep the address of a session without a device', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    await closed(registry, await registry.register(w.request('ada')))
    assert.equal((await registry.register(w.request('ada'))).virtualIp, '100.64.0.3')
  })

  test('a second connection of a device ends the first one at any gateway, and keeps the address', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [here, there] = [await w.joined('primary'), await w.joined('standby')]
    const first = await here.register(w.request('ada', 'laptop'))
    const second = await there.register(w.request('ada', 'laptop'))
    assert.equal(second.virtualIp, first.virtualIp)
    const end = { id: first.id, code: 4409, reason: 'the device has connected again' }
    assert.deepEqual(await here.ended(), [end])
    assert.deepEqual(await here.ended(), [end], 'until it is acknowledged')
    assert.deepEqual(await there.ended(), [])
    await closed(here, first)
    await here.acknowledge([first.id])
    assert.deepEqual(await here.ended(), [])
    const { items } = await w.sessions.list({}, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ id }) => id),
      [second.id],
    )
    assert.deepEqual(
      (await auditTrail(w)).map(({ event, reason }) => [event, reason]),
      [
        ['session_registered', null],
        ['session_closed', 'the device has connected again'],
        ['session_registered', null],
      ],
    )
  })

  test('one of many concurrent connections of a device stays, at any gateway', async () => {
    await using w = await vpnStoreWorld(dialect)
    const gateways = [await w.joined('primary'), await w.joined('standby')]
    const connect = async (index: number) => gateways[index % 2]?.register(w.request('ada', 'laptop'))
    const made = await Promise.all(Array.from({ length: 8 }, (_, index) => connect(index)))
    const { items } = await w.sessions.list({}, FIRST_PAGE)
    assert.equal(items.length, 1)
    const ends = (await Promise.all(gateways.map((each) => each.ended()))).flat()
    assert.equal(ends.length, 7)
    assert.equal(new Set(made.map((session) => session?.virtualIp)).size, 1, 'the address was kept')
  })

  test('many concurrent connections get an address each', async () => {
    await using w = await vpnStoreWorld(dialect)
    const gateways = [await w.joined('primary'), await w.joined('standby')]
    const connect = async (index: number) => gateways[index % 2]?.register(w.request('ada', `d${index}`))
    const made = await Promise.all(Array.from({ length: 100 }, (_, index) => connect(index)))
    assert.equal(new Set(made.map((session) => session?.virtualIp)).size, 100)
    assert.equal((await w.pool.usage()).used, 100)
  })

  test('a revoked token opens no session, and leases no address', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const stale = w.request('ada', 'laptop')
    await w.users.change(w.ids.get('ada') ?? '', { roles: ['auditor'] })
    await assert.rejects(registry.register(stale), hasCode('unauthenticated'))
    await assert.rejects(registry.register(w.request('nobody')), hasCode('unauthenticated'))
    assert.equal((await w.pool.usage()).used, 0)
    assert.deepEqual(await auditTrail(w), [])
  })

  test('a change of the user during a registration either refuses or ends the session', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const id = w.ids.get('ada') ?? ''
    const registering = Array.from({ length: 20 }, (_, index) =>
      registry.register(w.request('ada', `d${index}`)),
    )
    const changing = w.users.change(id, { enabled: false })
    const outcomes = await Promise.allSettled(registering)
    await changing
    assert.deepEqual((await w.sessions.list({}, FIRST_PAGE)).items, [])
    const opened = outcomes.filter(({ status }) => status === 'fulfilled').length
    assert.equal((await registry.ended()).length, opened)
  })

  test('a session is closed once, and only by its own gateway', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [here, there] = [await w.joined('primary'), await w.joined('standby')]
    const session = await here.register(w.request('ada', 'laptop'))
    await closed(there, session)
    assert.equal((await w.sessions.list({}, FIRST_PAGE)).items.length, 1)
    w.clock.advance(SECOND)
    await here.close([
      { id: session.id, code: 1000, reason: 'bye\0' },
      { id: session.id, ...GONE },
      { id: 'unknown', ...GONE },
    ])
    const { items } = await w.sessions.list({ state: 'closed' }, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ closedAt, closeCode }) => [closedAt, closeCode]),
      [[w.clock.now(), 1000]],
    )
    assert.deepEqual(
      (await auditTrail(w)).map(({ event, reason }) => [event, reason]),
      [
        ['session_registered', null],
        ['session_closed', 'bye'],
      ],
    )
    assert.deepEqual(await here.ended(), [], 'its own gateway has closed it')
  })

  test('a beat records the signs of life of live sessions', async () => {
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
    await assert.rejects(living.register(w.request('bob', 'other')), hasCode('pool_exhausted'))
    const again = await living.register(w.request('ada', 'laptop'))
    assert.equal(again.virtualIp, session.virtualIp, 'the last holder gets it at once')
    await closed(living, again)
    w.clock.advance(MINUTE)
    assert.equal((await living.register(w.request('bob', 'other'))).virtualIp, session.virtualIp)
    assert.deepEqual(await frozen.ended(), [
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
        assert.deepEqual(await alive(w), { primary: true, standby: true })
        w.clock.advance(HEARTBEAT_MS / 3)
        await one.beat([])
      }
      await w.beat(other)
      w.clock.advance(DEAD_MS)
      await w.beat(other)
      assert.deepEqual(
        (await one.ended()).map((end) => end.id),
        [id],
      )
      assert.deepEqual(await alive(w), { primary: false, standby: true })
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
        assert.deepEqual([await here.ended(), await far.ended()], [[], []])
        for (const clock of [w.clock, skewed]) clock.advance(HEARTBEAT_MS / 3)
      }
      assert.deepEqual(await alive(w), { primary: true, standby: true })
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
        (await here.ended()).map(({ id }) => id),
        [one.id],
      )
      assert.deepEqual(await alive(w), { primary: false, standby: true })
    })
  }

  test('an address that was released before the clock was set back can be leased', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.0/30' })
    const registry = await w.joined('primary')
    await closed(registry, await registry.register(w.request('ada', 'laptop')))
    w.clock.jump(-MINUTE)
    await assert.rejects(
      registry.register(w.request('bob')),
      hasCode('pool_exhausted'),
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
    assert.deepEqual(await again.ended(), [])
  })

  test('a gateway does not start while another one of its name lives', async () => {
    await using w = await vpnStoreWorld(dialect)
    const first = await w.joined('primary')
    const { id } = await first.register(w.request('ada', 'laptop'))
    await assert.rejects(w.registryOf('primary').join(), {
      code: 'gateway_name_in_use',
      message:
        'gateway.name: "primary" is in use by the gateway at primary:9994 since 2026-01-31T02:00:00.000Z; stop that ' +
        'gateway or set another name. The name of a gateway that has crashed on another host is free after 90 s.',
    })
    w.clock.advance(DEAD_MS - 1)
    await first.beat([])
    w.clock.advance(DEAD_MS - 1)
    await assert.rejects(w.registryOf('primary').join(), hasCode('gateway_name_in_use'))
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
    await assert.rejects(w.registryOf('primary').join(), hasCode('gateway_name_in_use'))
    w.clock.advance(1)
    const next = await w.joined('primary')
    assert.equal((await next.register(w.request('ada', 'laptop'))).virtualIp, lost.virtualIp)
    await silent.beat([])
    assert.deepEqual(
      (await silent.ended()).map(({ id }) => id),
      [lost.id],
      'a frozen gateway goes on without its sessions',
    )
  })

  test('a user has at most as many sessions as are allowed; one that is replaced does not count', async () => {
    await using w = await vpnStoreWorld(dialect, { sessionsPerUser: 2 })
    const [here, there] = [await w.joined('primary'), await w.joined('standby')]
    const first = await here.register(w.request('ada', 'laptop'))
    await there.register(w.request('ada'))
    await assert.rejects(here.register(w.request('ada', 'phone')), (error) => {
      assert.ok(error instanceof AppError)
      assert.deepEqual(
        [error.kind, error.code, error.retryAfterSeconds],
        ['rate_limited', 'rate_limited', 60],
      )
      assert.match(error.message, /^The user "ada" has 2 sessions, as many as vpn.sessions_per_user allows/)
      return true
    })
    assert.equal((await w.pool.usage()).used, 2)
    assert.equal((await auditTrail(w)).length, 2)
    const again = await there.register(w.request('ada', 'laptop'))
    assert.equal(again.virtualIp, first.virtualIp)
    await here.register(w.request('bob'))
    await closed(there, again)
    await here.register(w.request('ada', 'phone'))
  })

  test('concurrent registrations at two gateways do not exceed the sessions of a user', async () => {
    await using w = await vpnStoreWorld(dialect, { sessionsPerUser: 10 })
    const gateways = [await w.joined('primary'), await w.joined('standby')]
    const connect = async (index: number) => gateways[index % 2]?.register(w.request('ada', `d${index}`))
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, (_, index) => connect(index)))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10)
    assert.equal((await w.pool.usage()).used, 10)
  })

  test('the audit trail says who held which address when', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const { id: sessionId } = await registry.register(w.request('ada', 'laptop'))
    w.clock.advance(SECOND)
    await registry.close([{ id: sessionId, ...GONE }])
    const ada = { id: w.ids.get('ada') ?? '', name: 'ada' }
    const refused = { remoteAddress: '192.0.2.66', device: 'laptop', reason: 'The token was revoked.' }
    await registry.refused({ ...refused, user: ada })
    await registry.refused({ ...refused, user: undefined, device: undefined })
    const holder = { userId: ada.id, userName: 'ada', device: 'laptop', virtualIp: '100.64.0.2' }
    assert.deepEqual(
      (await auditTrail(w)).map(({ event, userId, userName, device, virtualIp }) => [
        event,
        { userId, userName, device, virtualIp },
      ]),
      [
        ['session_registered', holder],
        ['session_closed', holder],
        ['auth_failed', { ...holder, virtualIp: null }],
        ['auth_failed', { userId: null, userName: null, device: null, virtualIp: null }],
      ],
    )
  })

  test('sessions and the audit trail can be restricted to a time range, page by page', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const start = w.clock.now()
    const ids: string[] = []
    for (let hour = 0; hour < 8; hour++) {
      const session = await registry.register(w.request('ada', `device-${hour}`))
      if (hour % 2 === 1) await closed(registry, session)
      ids.push(session.id)
      w.clock.advance(HOUR)
    }
    const range = { createdFrom: start + 2 * HOUR, createdTo: start + 6 * HOUR }
    const list = async (filter: SessionFilter) =>
      (await w.sessions.list(filter, { ...FIRST_PAGE, ...range })).items.map(({ id }) => ids.indexOf(id))
    assert.deepEqual(await list({}), [4, 2])
    assert.deepEqual(await list({ state: 'closed' }), [5, 3])

    const first = await w.sessions.audit(
      { event: 'session_registered' },
      { ...FIRST_PAGE, ...range, limit: 3 },
    )
    const second = await w.sessions.audit({}, { ...range, limit: 3, after: first.next })
    const hours = [...first.items, ...second.items].map(({ at }) => (at - start) / HOUR)
    assert.deepEqual([hours, second.next], [[5, 4, 3, 2], null])
  })

  test('entries of earlier releases name no user, device or address', async () => {
    await using w = await vpnStoreWorld(dialect)
    const earlier = { id: 'an-id', at: 1, event: 'session_closed', session_id: 's', user_id: 'u' }
    await w.store.write(async ({ db }) => {
      const place = { gateway: 'primary', remote_address: '192.0.2.10', reason: 'bye' }
      await db
        .insertInto('vpn_audit')
        .values({ ...earlier, ...place })
        .execute()
    })
    const [entry] = await auditTrail(w)
    assert.deepEqual(
      [entry?.id, entry?.userId, entry?.userName, entry?.device, entry?.virtualIp],
      ['an-id', 'u', null, null, null],
    )
  })

  test('a gateway that stops releases its addresses', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    await registry.register(w.request('ada', 'laptop'))
    await registry.leave()
    const [session] = (await w.sessions.list({ state: 'closed' }, FIRST_PAGE)).items
    assert.equal(session?.closeCode, 1001)
    assert.deepEqual(await registry.ended(), [])
    assert.deepEqual(
      (await w.sessions.tunnels()).gateways.map(({ name, alive }) => [name, alive]),
      [['primary', false]],
    )
  })

  test('an address of another pool is not leased until a pool covers it again', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.32/30' })
    const small = await w.joined('primary')
    const old = await small.register(w.request('ada', 'laptop'))
    assert.equal(old.virtualIp, '100.64.0.34')
    await closed(small, old)

    await w.crash('primary')
    const apart = await w.joined('primary', { pool: '10.0.0.0/30' })
    const moved = await apart.register(w.request('ada', 'laptop'))
    assert.equal(moved.virtualIp, '10.0.0.2')
    await assert.rejects(apart.register(w.request('bob')), hasCode('pool_exhausted'))

    await w.crash('primary')
    const wide = await w.joined('primary', { pool: '100.64.0.0/26' })
    assert.equal((await wide.register(w.request('ada', 'laptop'))).virtualIp, old.virtualIp)
    w.clock.advance(MINUTE)
    const made = new Set<string>()
    for (let index = 0; index < 60; index++)
      made.add((await wide.register(w.request('bob', `d${index}`))).virtualIp)
    assert.equal(made.size, 60, 'all but the address that is held')
    assert.ok(!made.has(old.virtualIp))
    await assert.rejects(wide.register(w.request('bob')), hasCode('pool_exhausted'))

    await w.crash('primary')
    const smallAgain = await w.joined('primary', { pool: '100.64.0.32/30' })
    w.clock.advance(MINUTE)
    assert.equal((await smallAgain.register(w.request('bob'))).virtualIp, old.virtualIp)
  })

  test('a flood of bad tokens writes a bounded number of audit entries', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const refuse = (remoteAddress: string) =>
      registry.refused({ remoteAddress, user: undefined, device: undefined, reason: 'the token is forged' })
    for (let index = 0; index < 1_000; index++) await refuse(`192.0.2.${index % 200}`)
    assert.equal((await auditTrail(w)).length, 60)
    w.clock.advance(MINUTE)
    await registry.beat([])
    const lines = await auditTrail(w)
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
})
