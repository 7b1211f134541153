import { onEveryDialect } from '../../support/store.ts'
import { scopeOf } from '../../support/scope.ts'
import { FIRST_PAGE, PASSWORD, vpnStoreWorld } from '../../support/vpn-store.ts'
import { describeSessionRegistryContract } from '../../contract/session-registry.ts'

onEveryDialect('the registry in the store', (dialect) => {
  describeSessionRegistryContract('the registry in the store', async (t, { cidr }) => {
    const { store, pool, sessions, users, ids, joined } = scopeOf(t).use(
      await vpnStoreWorld(dialect, { pool: cidr }),
    )
    const { size } = await pool.usage()
    return {
      registry: await joined('primary'),
      capacity: size,
      makeUser: async () => ({ id: ids.get('ada') ?? '', name: 'ada', generation: 1 }),
      disconnect: (id) => store.write((tx) => sessions.disconnect(tx, id, 'root')),
      endTokens: async (userId) => void (await users.setPassword(userId, `${PASSWORD} and more`)),
      async live(wanted) {
        const { items } = await sessions.list({}, FIRST_PAGE)
        return items.map(({ id }) => id).filter((id) => wanted.includes(id))
      },
    }
  })
})
