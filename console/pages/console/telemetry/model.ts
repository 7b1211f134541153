import type { AnswerOf } from '../../../api/operations.ts'
import { listOf, resourceOf } from '../sources.ts'

export type Agent = AnswerOf<'listTelemetryAgents'>['items'][number]

const PREFIX = 'telemetry.agent.'
// An agent may send 100 items in a second.
const PAUSE_MS = 1_000

/** The list of the agents. */
export const agentList = listOf('listTelemetryAgents', PREFIX, {
  keyOf: ({ agent_id }) => agent_id,
})

/** One agent with its last item. */
export const agentResource = resourceOf('getTelemetryAgent', PREFIX, (agent_id) => ({ path: { agent_id } }), {
  isAbout: ({ subject }, id) => subject === PREFIX + id,
  pauseMs: PAUSE_MS,
})
