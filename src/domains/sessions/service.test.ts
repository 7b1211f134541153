import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import { DAY, SECOND } from '../../kernel/time.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import {
  FIRST_PAGE,
  HEARTBEAT_MS,
  PASSWORD,
  vpnStoreWorld,
  type VpnStoreWorld,
} from '../../../test/support/vpn-store.ts'
import { sessionPruneJob } from './index.ts'

/** The reason of the end, and the change of the user that causes it. */
const CHANGES: Readonly<Record<string, (world: VpnStoreWorld, id: string) => Promise<unknown>>> = {
  'the user was disabled': ({ users }, id) => users.change(id, { enabled: false }),
  'the roles of the user were changed': ({ users }, id) => users.change(id, { roles: ['auditor'] }),
  'the password was changed': ({ users }, id) => users.setPassword(id, PASSWORD),
  'the user was deleted': ({ users }, id) => users.remove(id),
}

onEveryDialect('sessions', (dialect) => {
  for (const [reason, change] of Object.entries(CHANGES)) {
    test(`end with 4401 when ${reason}; sessions of other users go on`, async () => {
      await using w = await vpnStoreWorld(dialect)
      const [here, there] = [await w.joined('primary'), await w.joined('standby')]
      const one = await here.register(w.request('ada', 'laptop'))
      const two = await there.register(w.request('ada'))
      const other = await here.register(w.request('bob', 'laptop'))
      await change(w, w.ids.get('ada') ?? '')
      assert.deepEqual(await here.listEnds(), [{ id: one.id, code: 4401, reason }])
      assert.deepEqual(await there.listEnds(), [{ id: two.id, code: 4401, reason }])
      assert.deepEqual(
        (await w.sessions.list({}, FIRST_PAGE)).items.map(({ id }) => id),
        [other.id],
      )
      const { items } = await w.sessions.audit({ event: 'session_closed' }, FIRST_PAGE)
      assert.deepEqual(
        items.map((line) => line.reason),
        [reason, reason],
      )
    })
  }

  test('go on when a change revokes no token, or is refused', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const [ada, root] = [w.ids.get('ada') ?? '', w.ids.get('root') ?? '']
    await registry.register(w.request('ada'))
    await registry.register(w.request('root'))
    await w.users.change(ada, { roles: ['devops'], enabled: true })
    await assert.rejects(w.users.change(root, { enabled: false }), { code: 'last_admin' })
    await assert.rejects(w.users.remove(root), { code: 'last_admin' })
    assert.deepEqual(await registry.listEnds(), [])
    assert.equal((await w.sessions.list({}, FIRST_PAGE)).items.length, 2)
  })

  test('end with 4403 when an operator disconnects them; only the audit trail names the operator', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const { id } = await registry.register(w.request('ada'))
    await w.store.write((tx) => w.sessions.disconnect(tx, id, 'olga'))
    assert.deepEqual(await registry.listEnds(), [{ id, code: 4403, reason: 'disconnected by an operator' }])
    await w.store.write((tx) => w.sessions.disconnect(tx, id, 'olga'))
    const { items } = await w.sessions.audit({ event: 'session_closed' }, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ reason }) => reason),
      ['disconnected by an operator: olga'],
      'once',
    )
    await assert.rejects(
      w.store.write((tx) => w.sessions.disconnect(tx, 'nothing', 'olga')),
      (error) => error instanceof AppError && error.code === 'session_not_found',
    )
  })

  test('are listed newest first, by state, user and gateway, page by page', async () => {
    await using w = await vpnStoreWorld(dialect)
    const [here, there] = [await w.joined('primary'), await w.joined('standby')]
    const ids: string[] = []
    for (const [registry, user] of [
      [here, 'ada'],
      [there, 'bob'],
      [here, 'bob'],
      [there, 'ada'],
    ] as const)
      ids.push((await registry.register(w.request(user))).id)
    const [one, two, three, four] = ids as [string, string, string, string]
    await w.store.write((tx) => w.sessions.disconnect(tx, two, 'olga'))
    const listed = async (filter: Parameters<typeof w.sessions.list>[0]) =>
      (await w.sessions.list(filter, FIRST_PAGE)).items.map(({ id }) => id)
    assert.deepEqual(await listed({}), [four, three, one])
    assert.deepEqual(await listed({ state: 'closed' }), [two])
    assert.deepEqual(await listed({ user: w.ids.get('ada') ?? '' }), [four, one])
    assert.deepEqual(await listed({ gateway: 'primary' }), [three, one])
    const first = await w.sessions.list({}, { limit: 2 })
    const second = await w.sessions.list({}, { limit: 2, after: first.next })
    assert.deepEqual(
      [...first.items, ...second.items].map(({ id }) => id),
      [four, three, one],
    )
    assert.equal(second.next, null)
  })

  test('are shown with their gateways, also silent and stopped ones', async () => {
    await using w = await vpnStoreWorld(dialect)
    const earlier = await w.joined('primary')
    await earlier.leave()
    w.clock.advance(SECOND)
    const [primary, standby] = [await w.joined('primary'), await w.joined('standby')]
    const { id } = await standby.register(w.request('ada', 'laptop'))
    await w.beat(standby)
    w.clock.advance(3 * HEARTBEAT_MS)
    await w.beat(standby)
    const { gateways, sessions, total } = await w.sessions.tunnels()
    assert.deepEqual(gateways, [
      {
        name: 'primary',
        address: 'primary:9994',
        heartbeatMs: 30_000,
        lastSeenAt: Date.parse('2026-01-31T02:00:01.000Z'),
        alive: false,
      },
      {
        name: 'standby',
        address: 'standby:9994',
        heartbeatMs: 30_000,
        lastSeenAt: Date.parse('2026-01-31T02:01:31.000Z'),
        alive: true,
      },
    ])
    assert.deepEqual([sessions.map((session) => session.id), total], [[id], 1])
    assert.deepEqual(await primary.listEnds(), [])
    w.clock.advance(DAY)
    await w.beat(standby)
    assert.deepEqual(
      (await w.sessions.tunnels()).gateways.map(({ name }) => name),
      ['standby'],
      'a gateway that stopped is shown for a day',
    )
  })

  test('are kept for 90 days after their end, as is the audit trail; live sessions stay', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.0/22' })
    const registry = await w.joined('primary')
    const lasting = await registry.register(w.request('bob', 'phone'))
    for (let index = 0; index < 3; index++) {
      const { id } = await registry.register(w.request('ada'))
      await registry.close([{ id, code: 1000, reason: 'bye' }])
    }
    w.clock.advance(90 * DAY + 1)
    await registry.beat([])
    const recent = await registry.register(w.request('ada'))
    await registry.close([{ id: recent.id, code: 1000, reason: 'bye' }])
    await sessionPruneJob(w.sessions, w.clock).run(new AbortController().signal)
    const ids = async (state: 'open' | 'closed') =>
      (await w.sessions.list({ state }, FIRST_PAGE)).items.map(({ id }) => id)
    assert.deepEqual([await ids('open'), await ids('closed')], [[lasting.id], [recent.id]])
    const { items } = await w.sessions.audit({}, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ sessionId }) => sessionId),
      [recent.id, recent.id],
    )
    w.clock.advance(90 * DAY + 1)
    await registry.beat([])
    while (await w.sessions.prune(w.clock.now() - 90 * DAY, 1));
    assert.deepEqual((await w.sessions.audit({}, FIRST_PAGE)).items.length, 1, 'the newest entry stays')
    const next = await registry.register(w.request('ada'))
    assert.deepEqual((await ids('open')).toSorted(), [lasting.id, next.id].toSorted())
    assert.equal((await w.sessions.tunnels()).gateways.length, 1)
  })

  test('are not pruned while they hold an address, even after 91 days without a process', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const { id } = await registry.register(w.request('ada'))
    w.clock.advance(91 * DAY)
    await sessionPruneJob(w.sessions, w.clock).run(new AbortController().signal)
    assert.equal(await w.sessions.reclaim(), 0)
    w.clock.advance(3 * HEARTBEAT_MS)
    assert.equal(await w.sessions.reclaim(), 1, id)
    assert.equal((await w.pool.usage()).used, 0)
  })
})
