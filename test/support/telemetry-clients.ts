import { startClients, type ClientOptions, type Clients } from './clients.ts'
import { callPlatform } from './platform.ts'

const LARGEST_BATCH = 60
// Above the rate of an agent, and while the platform stops.
const REFUSALS = [429, 503]

/**
 * Starts clients, each of them one agent, that send batches of numbered items. `acknowledged` has the number of items of
 * each agent; an agent numbers its items from 0 on.
 */
export function startTelemetryClients({ url, clients, prefix, chance }: ClientOptions): Clients<number> {
  const send = (agentId: string, from: number, count: number) => {
    const items = Array.from({ length: count }, (_, index) => ({ data: { n: from + index } }))
    return callPlatform(url, 'POST', '/api/v1/telemetry', { body: { agent_id: agentId, items } })
  }
  return startClients<number>(clients, REFUSALS, async ({ acknowledged, isAcknowledged }, client) => {
    const agentId = `${prefix}-${client}`
    const from = acknowledged.get(agentId) ?? 0
    const count = chance.between(1, LARGEST_BATCH)
    if (await isAcknowledged(send(agentId, from, count))) acknowledged.set(agentId, from + count)
  })
}
