import { callPlatform } from './platform.ts'
import type { Chance } from './random.ts'

export interface TelemetryClients {
  /** How many items of each agent were acknowledged; an agent numbers its items from 0 on. */
  readonly acknowledged: ReadonlyMap<string, number>
  /** Responses other than 202, 429, and 503 during a stop. */
  readonly unexpected: readonly string[]
  /** Stops after the current calls; resolves immediately when the server is gone. */
  stop(): Promise<void>
}

export interface TelemetryClientOptions {
  readonly url: string
  readonly clients: number
  /** The prefix of all agent ids; must be unique for each load on a database. */
  readonly prefix: string
  readonly chance: Chance
}

const LARGEST_BATCH = 60

/** Starts clients, each of them one agent, that send batches of numbered items one after the other. */
export function startTelemetryClients(options: TelemetryClientOptions): TelemetryClients {
  const { url, clients, prefix, chance } = options
  const acknowledged = new Map<string, number>()
  const unexpected: string[] = []
  let stopping = false

  const send = async (agentId: string): Promise<void> => {
    const from = acknowledged.get(agentId) ?? 0
    const count = chance.between(1, LARGEST_BATCH)
    const items = Array.from({ length: count }, (_, index) => ({ data: { n: from + index } }))
    const answer = await callPlatform(url, 'POST', '/api/v1/telemetry', {
      body: { agent_id: agentId, items },
    })
    const text = await answer.text()
    if (answer.status === 202) acknowledged.set(agentId, from + count)
    else if (answer.status !== 429 && answer.status !== 503) unexpected.push(`${answer.status} ${text}`)
  }

  const run = async (client: number) => {
    while (!stopping) {
      try {
        await send(`${prefix}-${client}`)
      } catch {
        // The connection broke: whether the last batch was accepted is unknown.
        return
      }
    }
  }

  const running = Array.from({ length: clients }, (_, client) => run(client))
  return {
    acknowledged,
    unexpected,
    async stop() {
      stopping = true
      await Promise.all(running)
    },
  }
}
