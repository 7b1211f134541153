import { CONNECTIONS, LOCAL_TOOL } from './order-load.ts'
import type { LoadTarget } from './load.ts'

/** Agents, each on a connection of its own. */
const AGENTS = CONNECTIONS
export const BATCH = 100

const PATH = '/api/v1/telemetry'
// As many as an agent may send with the default of `telemetry.rate`.
const ITEMS_PER_SECOND = 100

/** Sends a batch of an agent with each call. */
export function postTelemetry(port: number): LoadTarget {
  const bodies = Array.from({ length: AGENTS }, (_, agent) => bodyOf(agent))
  return { port, connections: AGENTS, method: 'POST', path: PATH, headers: LOCAL_TOOL, bodies }
}

export interface PacedTelemetry {
  /** Resolves when all calls are answered; rejects when one was not answered with 202. */
  stop(): Promise<void>
}

/** Each agent sends batches at the rate that the default of `telemetry.rate` allows. */
export function startPacedTelemetry(port: number): PacedTelemetry {
  const calls: Promise<void>[] = []
  let agent = 0
  const timer = setInterval(
    () => {
      const call = send(port, agent++ % AGENTS)
      // `stop` rejects with it.
      call.catch(() => undefined)
      calls.push(call)
    },
    (1_000 * BATCH) / (ITEMS_PER_SECOND * AGENTS),
  )
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(calls)
    },
  }
}

async function send(port: number, agent: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${PATH}`, {
    method: 'POST',
    headers: { ...LOCAL_TOOL, 'content-type': 'application/json' },
    body: bodyOf(agent),
  })
  const text = await response.text()
  if (response.status !== 202) throw new Error(`telemetry was answered with ${response.status}: ${text}`)
}

function bodyOf(agent: number): string {
  const items = Array.from({ length: BATCH }, (_, n) => ({
    at: '2026-01-31T02:00:00.000Z',
    data: { n, temperature: 21.5, pressure: 1_013.25, state: 'running' },
  }))
  return JSON.stringify({ agent_id: `agent-${agent}`, items })
}
