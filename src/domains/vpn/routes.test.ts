import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Changes } from '../../infra/http/changes.ts'
import { createHttpServer } from '../../infra/http/server.ts'
import { knownRoles, type Role } from '../../kernel/identity.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { vpnStoreWorld, type VpnStoreWorld } from '../../../test/support/vpn-store.ts'
import { vpnRoutes } from './routes.ts'

type Body = Readonly<Record<string, unknown>>

async function startApi(world: VpnStoreWorld, readOnly = false) {
  const server = await createHttpServer({
    routes: vpnRoutes(world.vpn),
    identify: ({ headers }) => {
      const roles = knownRoles([String(headers['x-user-roles'])])
      return { id: 'olga', name: 'olga', roles, via: 'headers' }
    },
    changes: new Changes({ store: world.store }),
    logger: silentLogger,
    metrics: noMetrics,
    version: '0',
    readOnly,
    rateLimitPerMinute: 0,
  })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    async call(method: string, path: string, role: Role = 'devops') {
      const response = await fetch(`http://${address}${path}`, { method, headers: { 'x-user-roles': role } })
      const text = await response.text()
      return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Body }
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}

describe('the operations of the VPN', () => {
  it('show sessions with the fields of the specification', async () => {
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

  it('turn the pages of the audit trail', async () => {
    await using w = await vpnStoreWorld('sqlite')
    await using api = await startApi(w)
    const registry = await w.joined('primary')
    const { id } = await registry.register(w.request('ada', 'laptop'))
    await registry.refused({ remoteAddress: '192.0.2.66', userId: undefined, reason: 'The token is forged.' })
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
        gateway: 'primary',
        remote_address: '192.0.2.66',
        reason: 'The token is forged.',
      },
    )
    const older = await api.call('GET', `/vpn/audit?cursor=${String(newest.body['next_cursor'])}`)
    const [registered] = older.body['items'] as Body[]
    assert.deepEqual([registered?.['event'], registered?.['session_id']], ['session_registered', id])
    assert.equal(older.body['next_cursor'], null)
    const filtered = await api.call('GET', `/vpn/audit?user=${w.ids.get('ada')}&event=session_registered`)
    assert.equal((filtered.body['items'] as Body[]).length, 1)
  })

  it('count the pool', async () => {
    await using w = await vpnStoreWorld('sqlite')
    await using api = await startApi(w)
    const registry = await w.joined('primary')
    await registry.register(w.request('ada'))
    const { id } = await registry.register(w.request('ada'))
    await registry.close([{ id, code: 1000, reason: 'bye' }])
    const body = { cidr: '100.64.0.0/24', size: 253, used: 1, cooling: 1, free: 251 }
    assert.deepEqual(await api.call('GET', '/vpn/pool'), { status: 200, body })
  })

  it('disconnect nothing for those who may only look, while read-only, or what is not there', async () => {
    await using w = await vpnStoreWorld('sqlite')
    await using api = await startApi(w)
    await using readOnly = await startApi(w, true)
    const { id } = await (await w.joined('primary')).register(w.request('ada'))
    const path = `/vpn/sessions/${id}`
    assert.equal((await api.call('DELETE', path, 'auditor')).status, 403)
    assert.deepEqual((await readOnly.call('DELETE', path)).body['code'], 'read_only')
    const missing = await api.call('DELETE', '/vpn/sessions/nothing')
    assert.deepEqual([missing.status, missing.body['code']], [404, 'session_not_found'])
    assert.equal((await w.vpn.pool()).used, 1)
  })
})
