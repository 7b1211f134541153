import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, MINUTE, SECOND } from '../../kernel/time.ts'
import type { SessionFilter } from './store.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import {
  auditTrailOf,
  closeLost,
  FIRST_PAGE,
  LOST_CONNECTION,
  vpnStoreWorld,
} from '../../../test/support/vpn-store.ts'

onEveryDialect('the audit trail of the registry', (dialect) => {
  test('the audit trail says who held which address when', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const { id: sessionId } = await registry.register(w.request('ada', 'laptop'))
    w.clock.advance(SECOND)
    await registry.close([{ id: sessionId, ...LOST_CONNECTION }])
    const ada = { id: w.ids.get('ada') ?? '', name: 'ada' }
    const refused = { remoteAddress: '192.0.2.66', device: 'laptop', reason: 'The token was revoked.' }
    await registry.recordRefusal({ ...refused, user: ada })
    await registry.recordRefusal({ ...refused, user: undefined, device: undefined })
    const holder = { userId: ada.id, userName: 'ada', device: 'laptop', virtualIp: '100.64.0.2' }
    assert.deepEqual(
      (await auditTrailOf(w)).map(({ event, userId, userName, device, virtualIp }) => [
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
      if (hour % 2 === 1) await closeLost(registry, session)
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
    const [entry] = await auditTrailOf(w)
    assert.deepEqual(
      [entry?.id, entry?.userId, entry?.userName, entry?.device, entry?.virtualIp],
      ['an-id', 'u', null, null, null],
    )
  })

  test('a flood of bad tokens writes a bounded number of audit entries', async () => {
    await using w = await vpnStoreWorld(dialect)
    const registry = await w.joined('primary')
    const refuse = (remoteAddress: string) =>
      registry.recordRefusal({
        remoteAddress,
        user: undefined,
        device: undefined,
        reason: 'the token is forged',
      })
    for (let index = 0; index < 1_000; index++) await refuse(`192.0.2.${index % 200}`)
    assert.equal((await auditTrailOf(w)).length, 60)
    w.clock.advance(MINUTE)
    await registry.beat([])
    const lines = await auditTrailOf(w)
    assert.equal(lines.length, 121)
    assert.ok(lines.every(({ event, sessionId }) => event === 'auth_failed' && sessionId === null))
    assert.deepEqual(
      lines.filter(({ remoteAddress }) => remoteAddress === null).map(({ cause }) => cause),
      [{ code: 'many_refusals', values: { repetitions: 700 } }],
    )
    const events = await w.messages.pending(1_000, [])
    assert.equal(JSON.parse(events[0]?.payload ?? '').subject, '192.0.2.0')
    assert.equal(JSON.parse(events.at(-1)?.payload ?? '').subject, 'primary')
  })
})
