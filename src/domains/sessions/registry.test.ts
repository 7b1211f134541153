import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { AppError } from '../../kernel/errors.ts'
import { formatIpv4 } from '../../kernel/addresses.ts'
import { MINUTE, SECOND } from '../../kernel/time.ts'
import type { RegisteredSession } from '../../ports/session-registry.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import {
  auditTrailOf,
  closeLost,
  FIRST_PAGE,
  LOST_CONNECTION,
  vpnOn,
  vpnStoreWorld,
  type VpnStoreWorld,
} from '../../../test/support/vpn-store.ts'

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
    const [line] = await auditTrailOf(w)
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
      cause: null,
    })
    assert.equal(JSON.parse(event?.payload ?? '').subject, one.id)
  })

  test('gives a device its address back, also while that cools down', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [here, there] = [await w.joined('primary'), await w.joined('standby')]
    const first = await here.register(w.request('ada', 'laptop'))
    await closeLost(here, first)
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
    await closeLost(registry, two)
    w.clock.advance(SECOND)
    await closeLost(registry, one)
    assert.equal((await registry.register(w.request('bob'))).virtualIp, '100.64.0.6', 'the last unused one')
    w.clock.advance(59 * SECOND - 1)
    await assert.rejects(registry.register(w.request('bob')), { code: 'pool_exhausted' })
    assert.deepEqual(await w.pool.usage(), { cidr: '100.64.0.0/29', size: 5, used: 3, cooling: 2, free: 0 })
    w.clock.advance(1)
    assert.equal((await registry.register(w.request('bob'))).virtualIp, two.virtualIp, 'released first')
    await assert.rejects(registry.register(w.request('bob')), { code: 'pool_exhausted' })
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
    assert.equal((await auditTrailOf(w)).length, 1)
    assert.equal((await registry.register(w.request('ada', 'laptop'))).virtualIp, '100.64.0.2', 'replaced')
  })

  test('does not keep the address of a session without a device', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    await closeLost(registry, await registry.register(w.request('ada')))
    assert.equal((await registry.register(w.request('ada'))).virtualIp, '100.64.0.3')
  })

  test('a second connection of a device ends the first one at any gateway, and keeps the address', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [here, there] = [await w.joined('primary'), await w.joined('standby')]
    const first = await here.register(w.request('ada', 'laptop'))
    const second = await there.register(w.request('ada', 'laptop'))
    assert.equal(second.virtualIp, first.virtualIp)
    const end = { id: first.id, code: 4409, reason: 'the device has connected again' }
    assert.deepEqual(await here.listEnds(), [end])
    assert.deepEqual(await here.listEnds(), [end], 'until it is acknowledged')
    assert.deepEqual(await there.listEnds(), [])
    await closeLost(here, first)
    await here.acknowledge([first.id])
    assert.deepEqual(await here.listEnds(), [])
    const { items } = await w.sessions.list({}, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ id }) => id),
      [second.id],
    )
    assert.deepEqual(
      (await auditTrailOf(w)).map(({ event, reason }) => [event, reason]),
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
    const ends = (await Promise.all(gateways.map((each) => each.listEnds()))).flat()
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
    await assert.rejects(registry.register(stale), { code: 'unauthenticated' })
    await assert.rejects(registry.register(w.request('nobody')), { code: 'unauthenticated' })
    assert.equal((await w.pool.usage()).used, 0)
    assert.deepEqual(await auditTrailOf(w), [])
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
    assert.equal((await registry.listEnds()).length, opened)
  })

  test('a session is closed once, and only by its own gateway', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [here, there] = [await w.joined('primary'), await w.joined('standby')]
    const session = await here.register(w.request('ada', 'laptop'))
    await closeLost(there, session)
    assert.equal((await w.sessions.list({}, FIRST_PAGE)).items.length, 1)
    w.clock.advance(SECOND)
    await here.close([
      { id: session.id, code: 1000, reason: 'bye\0' },
      { id: session.id, ...LOST_CONNECTION },
      { id: 'unknown', ...LOST_CONNECTION },
    ])
    const { items } = await w.sessions.list({ state: 'closed' }, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ closedAt, closeCode }) => [closedAt, closeCode]),
      [[w.clock.now(), 1000]],
    )
    assert.deepEqual(
      (await auditTrailOf(w)).map(({ event, reason }) => [event, reason]),
      [
        ['session_registered', null],
        ['session_closed', 'bye'],
      ],
    )
    assert.deepEqual(await here.listEnds(), [], 'its own gateway has closed it')
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
    assert.equal((await auditTrailOf(w)).length, 2)
    const again = await there.register(w.request('ada', 'laptop'))
    assert.equal(again.virtualIp, first.virtualIp)
    await here.register(w.request('bob'))
    await closeLost(there, again)
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

  test('a gateway that stops releases its addresses', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    await registry.register(w.request('ada', 'laptop'))
    await registry.leave()
    const [session] = (await w.sessions.list({ state: 'closed' }, FIRST_PAGE)).items
    assert.equal(session?.closeCode, 1001)
    assert.deepEqual(await registry.listEnds(), [])
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
    await closeLost(small, old)

    await w.crash('primary')
    const apart = await w.joined('primary', { pool: '10.0.0.0/30' })
    const moved = await apart.register(w.request('ada', 'laptop'))
    assert.equal(moved.virtualIp, '10.0.0.2')
    await assert.rejects(apart.register(w.request('bob')), { code: 'pool_exhausted' })

    await w.crash('primary')
    const wide = await w.joined('primary', { pool: '100.64.0.0/26' })
    assert.equal((await wide.register(w.request('ada', 'laptop'))).virtualIp, old.virtualIp)
    w.clock.advance(MINUTE)
    const made = new Set<string>()
    for (let index = 0; index < 60; index++)
      made.add((await wide.register(w.request('bob', `d${index}`))).virtualIp)
    assert.equal(made.size, 60, 'all but the address that is held')
    assert.ok(!made.has(old.virtualIp))
    await assert.rejects(wide.register(w.request('bob')), { code: 'pool_exhausted' })

    await w.crash('primary')
    const smallAgain = await w.joined('primary', { pool: '100.64.0.32/30' })
    w.clock.advance(MINUTE)
    assert.equal((await smallAgain.register(w.request('bob'))).virtualIp, old.virtualIp)
  })
})

for (const where of ['before', 'behind'] as const)
  test(`on postgres a device keeps its address when another session ends ${where} the lease of the next one`, async () => {
    await using w = await vpnStoreWorld('postgres')
    const fast = await w.joined('standby')
    // Otherwise the gateways would wait for each other to add the first addresses of the pool.
    await fast.register(w.request('bob'))
    const [isLeasing, mayRegister] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = pausedAtLease(w, where, async () => {
      isLeasing.resolve()
      await mayRegister.promise
    })
    await slow.join()
    const first = slow.register(w.request('ada', 'laptop'))
    await isLeasing.promise
    const second = fast.register(w.request('ada', 'laptop'))
    let opened: RegisteredSession | undefined
    void second.then((session) => (opened = session))
    await eventually('it is open, or waits', async () => opened !== undefined || (await waitsForLock(w)))
    await w.store.write(async (tx) => {
      if (opened) await w.sessions.disconnect(tx, opened.id, 'root')
      mayRegister.resolve()
      // The session ends while the other one waits for that.
      if (opened) await eventually('the insert waits', () => waitsForLock(w))
    })
    await Promise.all([first, second])
    assert.equal((await first).virtualIp, (await second).virtualIp)
  })

/** A gateway of another process that waits at its first lease. */
function pausedAtLease(w: VpnStoreWorld, where: 'before' | 'behind', wait: () => Promise<void>) {
  const { pool, registryOf } = vpnOn(w.otherStore, w.clock)
  const lease = pool.lease.bind(pool)
  pool.lease = async (tx, holder) => {
    if (where === 'before') await wait()
    const address = await lease(tx, holder)
    if (where === 'behind') await wait()
    return address
  }
  return registryOf('primary')
}

async function waitsForLock({ store }: VpnStoreWorld): Promise<boolean> {
  const waiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await waiting.execute(store.read.db)).rows.length > 0
}
