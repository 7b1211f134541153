import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serveRoutes, type Body } from '../../../test/support/vpn-api.ts'
import { vpnStoreWorld, type VpnStoreWorld } from '../../../test/support/vpn-store.ts'
import { sessionRoutes } from './routes.ts'

const startApi = (world: VpnStoreWorld, readOnly = false) =>
  serveRoutes(world, sessionRoutes(world.sessions), readOnly)

describe('the operations on sessions', () => {
  it('show sessions in their documented form', async () => {
    await using w = await vpnStoreWorld('sqlite')
    await using api = await startApi(w)
    const registry = await w.joined('primary')
    const { id } = await registry.register(w.request('ada', 'laptop'))
    await registry.beat([{ id, lastSeenAt: w.clock.now(), rttMs: 12.5 }])
    const session = {
      id,
      user: { id: w.ids.get('ada'), name: 'ada' },
      device: 'laptop',
      virtual_ip: '100.64.0.2',
      gateway: 'primary',
      remote_address: '192.0.2.10',
      connected_at: '2026-01-31T02:00:00.000Z',
      last_seen_at: '2026-01-31T02:00:00.000Z',
      rtt_ms: 12.5,
      closed_at: null,
      close_code: null,
    }
    const shown = { items: [session], next_cursor: null }
    assert.deepEqual(await api.call('GET', '/vpn/sessions', 'auditor'), { status: 200, body: shown })
    const none = { items: [], next_cursor: null }
    assert.deepEqual((await api.call('GET', '/vpn/sessions?state=closed')).body, none)
    assert.equal((await api.call('GET', '/vpn/sessions?state=gone')).status, 400)
    w.clock.advance(1_000)
    assert.equal((await api.call('DELETE', `/vpn/sessions/${id}`)).status, 204)
    const closed = { ...session, closed_at: '2026-01-31T02:00:01.000Z', close_code: 4403 }
    assert.deepEqual((await api.call('GET', '/vpn/sessions?state=closed')).body, {
      ...shown,
      items: [closed],
    })
    assert.deepEqual((await api.call('GET', '/vpn/sessions')).body, none)
  })

  it('show the audit trail page by page', async () => {
    await using w = await vpnStoreWorld('sqlite')
    await using api = await startApi(w)
    const registry = await w.joined('primary')
    const { id } = await registry.register(w.request('ada', 'laptop'))
    await registry.recordRefusal({
      remoteAddress: '192.0.2.66',
      user: undefined,
      device: undefined,
      reason: 'The token is forged.',
    })
    const newest = await api.call('GET', '/vpn/audit?limit=1', 'auditor')
    const [refused] = newest.body['items'] as Body[]
    assert.deepEqual(
      { ...refused, id: '' },
      {
        id: '',
        at: '2026-01-31T02:00:00.000Z',
        event: 'auth_failed',
        session_id: null,
        user_id: null,
        user_name: null,
        device: null,
        virtual_ip: null,
        gateway: 'primary',
        remote_address: '192.0.2.66',
        reason: 'The token is forged.',
        cause: null,
      },
    )
    const older = await api.call('GET', `/vpn/audit?cursor=${String(newest.body['next_cursor'])}`)
    const [registered] = older.body['items'] as Body[]
    assert.deepEqual([registered?.['event'], registered?.['session_id']], ['session_registered', id])
    assert.deepEqual(
      [registered?.['user_name'], registered?.['device'], registered?.['virtual_ip']],
      ['ada', 'laptop', '100.64.0.2'],
    )
    assert.equal(older.body['next_cursor'], null)
    const filtered = await api.call('GET', `/vpn/audit?user=${w.ids.get('ada')}&event=session_registered`)
    assert.equal((filtered.body['items'] as Body[]).length, 1)
  })

  it('refuse to disconnect without the role, while read-only, or an unknown session', async () => {
    await using w = await vpnStoreWorld('sqlite')
    await using api = await startApi(w)
    await using readOnly = await startApi(w, true)
    const { id } = await (await w.joined('primary')).register(w.request('ada'))
    const path = `/vpn/sessions/${id}`
    assert.equal((await api.call('DELETE', path, 'auditor')).status, 403)
    assert.deepEqual((await readOnly.call('DELETE', path)).body['code'], 'read_only')
    const missing = await api.call('DELETE', '/vpn/sessions/nothing')
    assert.deepEqual([missing.status, missing.body['code']], [404, 'session_not_found'])
    assert.equal((await w.pool.usage()).used, 1)
  })
})
