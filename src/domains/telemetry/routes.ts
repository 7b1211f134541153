import { JsonText } from '../../kernel/json-text.ts'
import type { ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, parsePage, TimedPageQuery } from '../../wire/page.ts'
import { ok, route, type Route } from '../../wire/route.ts'
import { Fields } from '../../wire/schemas.ts'
import { MAX_ITEMS } from './model.ts'
import {
  AcceptedSchema,
  AgentPage,
  AgentParams,
  AgentWithItem,
  encodeAgent,
  encodeAgentWithItem,
  parseUpload,
  UploadBody,
} from './schemas.ts'
import type { Telemetry } from './service.ts'
import { agentRow } from './store.ts'

const READERS = ['admin', 'devops', 'auditor', 'service'] as const

export const TELEMETRY_ERRORS = {
  agent_not_found: { status: 404, meaning: 'No agent of this id has sent telemetry.' },
} as const satisfies ErrorCodes

const { agent_not_found } = TELEMETRY_ERRORS

/** docs/specification.md, HTTP API */
export function telemetryRoutes(telemetry: Telemetry, now: () => number): Route[] {
  return [
    route({
      method: 'POST',
      path: '/api/v1/telemetry',
      operation: 'sendTelemetry',
      tag: 'Telemetry',
      summary: 'Send one item of an agent, or a batch',
      description:
        `Either \`data\`, or up to ${MAX_ITEMS} \`items\`. Each item is one event on \`telemetry.agent.<agent_id>\`, ` +
        'in the given order. A batch is accepted or refused as a whole; above the rate of the agent, or when too many ' +
        'items wait for the bus, it is refused with 429.',
      access: ['service', 'admin'],
      body: UploadBody,
      answers: {
        202: { description: 'The items are stored and will be published.', schema: AcceptedSchema },
      },
      prepare: ({ body }) => parseUpload(body, now()),
      touches: (_request, { agentId }) => [agentRow(agentId)],
      change: async (tx, { identity }, upload) => {
        await telemetry.accept(tx, upload, identity.id)
        return { status: 202, body: { accepted: upload.items } }
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/telemetry/agents',
      operation: 'listTelemetryAgents',
      tag: 'Telemetry',
      summary: 'List agents, newest first by their first item',
      access: READERS,
      query: Fields(TimedPageQuery),
      answers: { 200: { description: 'A page of agents.', schema: AgentPage } },
      read: async ({ query }) => ok(encodePage(await telemetry.listAgents(parsePage(query)), encodeAgent)),
    }),
    route({
      method: 'GET',
      path: '/api/v1/telemetry/agents/:agent_id',
      operation: 'getTelemetryAgent',
      tag: 'Telemetry',
      summary: 'Read one agent, with its last item',
      access: READERS,
      params: AgentParams,
      answers: { 200: { description: 'The agent.', schema: AgentWithItem } },
      errors: { agent_not_found },
      read: async ({ params }) =>
        ok(new JsonText(encodeAgentWithItem(await telemetry.getAgent(params.agent_id)))),
    }),
  ]
}
