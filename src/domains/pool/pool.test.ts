import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE } from '../../kernel/time.ts'
import type { RegisteredSession } from '../../ports/session-registry.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { serveRoutes } from '../../../test/support/vpn-api.ts'
import { FIRST_PAGE, vpnStoreWorld, type VpnStoreWorld } from '../../../test/support/vpn-store.ts'
import { poolRoutes } from './routes.ts'

async function updateAlert({ pool }: VpnStoreWorld): Promise<void> {
  await pool.updateAlert(await pool.usage())
}

onEveryDialect('the address pool', (dialect) => {
  test('is counted at GET /vpn/pool', async () => {
    await using w = await vpnStoreWorld(dialect)
    await using api = await serveRoutes(w, poolRoutes(w.pool))
    const registry = await w.joined('primary')
    await registry.register(w.request('ada'))
    const { id } = await registry.register(w.request('ada'))
    await registry.close([{ id, code: 1000, reason: 'bye' }])
    const body = { cidr: '100.64.0.0/24', size: 253, used: 1, cooling: 1, free: 251 }
    assert.deepEqual(await api.call('GET', '/vpn/pool'), { status: 200, body })
  })

  test('raises an alert at 80 and at 95 percent, and recovers below 70', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.0/28' })
    const registry = await w.joined('primary')
    const sessions: RegisteredSession[] = []
    const alertAt = async (used: number) => {
      while (sessions.length < used) sessions.push(await registry.register(w.request('ada')))
      const ends = sessions.splice(used).map(({ id }) => ({ id, code: 1000, reason: 'bye' }))
      await registry.close(ends)
      w.clock.advance(MINUTE)
      await updateAlert(w)
      const [alert] = (await w.alerts.list({}, FIRST_PAGE)).items
      return alert && [alert.status, alert.weight, alert.count]
    }
    assert.equal(await alertAt(10), undefined, '10 of 13 are 77 %')
    assert.deepEqual(await alertAt(11), ['firing', 3, 1])
    assert.deepEqual(await alertAt(11), ['firing', 3, 1], 'raised once')
    assert.deepEqual(await alertAt(13), ['firing', 5, 2])
    assert.deepEqual(await alertAt(10), ['firing', 5, 2])
    assert.deepEqual(await alertAt(9), ['recovered', 0, 2])
    assert.deepEqual(await alertAt(11), ['firing', 3, 3])
  })

  test('raises one alert when several processes count it', async () => {
    await using w = await vpnStoreWorld(dialect, { pool: '100.64.0.0/30' })
    await updateAlert(w)
    assert.deepEqual((await w.alerts.list({}, FIRST_PAGE)).items, [], 'no gateway has opened the pool')
    const registry = await w.joined('primary')
    await registry.register(w.request('ada'))
    await Promise.all([updateAlert(w), updateAlert(w), updateAlert(w)])
    const { items } = await w.alerts.list({}, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ alarmId, source, count, status }) => [alarmId, source, count, status]),
      [['vpn.pool:100.64.0.0/30', 'platform.vpn', 1, 'firing']],
    )
  })
})
