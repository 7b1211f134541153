import { describeSessionRegistryContract } from '../../contract/session-registry.ts'
import { createMemoryRegistry } from '../../support/memory-registry.ts'

describeSessionRegistryContract('the registry in memory', async () => {
  const capacity = 5
  const registry = createMemoryRegistry({ capacity })
  await registry.join()
  return {
    registry,
    capacity,
    makeUser: async () => ({ id: 'ada', name: 'ada', generation: 1 }),
    disconnect: async (id) => registry.endElsewhere(id, 4403, 'disconnected by an operator'),
    endTokens: async (userId) => registry.endTokens(userId),
    live: async (ids) => ids.filter((id) => registry.live.has(id)),
  }
})
