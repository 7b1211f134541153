import type { AnswerOf } from '../../../api/operations.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'

export type Agent = AnswerOf<'listTelemetryAgents'>['items'][number]
export type AgentDetails = AnswerOf<'getTelemetryAgent'>

const PAGE_LENGTH = 50
const PREFIX = 'telemetry.agent.'
// An agent may send 100 items in a second.
const PAUSE_MS = 1_000

/** The list of the agents. */
export const agentList: ListSource<Agent> = {
  filters: [],
  live,
  prefix: PREFIX,
  read: (query, signal) => call('listTelemetryAgents', { query: { ...query, limit: PAGE_LENGTH } }, signal),
  keyOf: ({ agent_id }) => agent_id,
  fromEvent: () => 'changed',
}

/** One agent with its last item. */
export const agentResource: ResourceSource<AgentDetails> = {
  live,
  prefix: PREFIX,
  read: (agent_id, signal) => call('getTelemetryAgent', { path: { agent_id } }, signal),
  isAbout: ({ subject }, id) => subject === PREFIX + id,
  pauseMs: PAUSE_MS,
}
