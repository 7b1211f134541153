import { Type, type Static } from 'typebox'
import { AppError, invalidField } from '../../kernel/errors.ts'
import { JsonText } from '../../kernel/text.ts'
import { encoderOf, parseTime } from '../../wire/codec.ts'
import type { ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, parsePage, TimedPageQuery, PageOf } from '../../wire/page.ts'
import { ok, type Route, routeOf } from '../../wire/route.ts'
import { Fields, Text, Timestamp } from '../../wire/schemas.ts'
import { MAX_ITEMS, MAX_EVENT_BYTES, type TelemetryItem, type Upload } from './model.ts'
import type { Telemetry } from './service.ts'
import { agentRow } from './store.ts'

const route = routeOf('Telemetry')

/** Who may read agents, their last items and the events. */
export const TELEMETRY_READERS = ['admin', 'devops', 'auditor', 'service'] as const

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
      summary: 'List agents, newest first by their first item',
      access: TELEMETRY_READERS,
      query: Fields(TimedPageQuery),
      answers: { 200: { description: 'A page of agents.', schema: PageOf(AgentSchema) } },
      read: async ({ query }) => ok(encodePage(await telemetry.listAgents(parsePage(query)), encodeAgent)),
    }),
    route({
      method: 'GET',
      path: '/api/v1/telemetry/agents/:agent_id',
      operation: 'getTelemetryAgent',
      summary: 'Read one agent, with its last item',
      access: TELEMETRY_READERS,
      params: AgentParams,
      answers: { 200: { description: 'The agent.', schema: AgentWithItem } },
      errors: { agent_not_found },
      read: async ({ params }) =>
        ok(new JsonText(encodeAgentWithItem(await telemetry.getAgent(params.agent_id)))),
    }),
  ]
}

// A body has no room for more.
const MAX_MEMBERS = 200_000

const AgentId = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  patternFault: ['not_an_agent_id'],
  description: 'The last part of the subject of its events; 1 to 64 of `A-Z a-z 0-9 _ -`.',
  examples: ['press-7'],
})
const Data = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  maxProperties: MAX_MEMBERS,
  description: 'What the agent has measured.',
})
const At = Type.Optional(
  Type.String({
    format: 'date-time',
    maxLength: 64,
    description: 'When it was measured; now when left out. RFC 3339 with any offset.',
  }),
)

const UploadBody = Fields({
  agent_id: AgentId,
  at: At,
  data: Type.Optional(Data),
  items: Type.Optional(
    Type.Array(Fields({ at: At, data: Data }), {
      minItems: 1,
      maxItems: MAX_ITEMS,
      description: `Up to ${MAX_ITEMS} items, in place of \`at\` and \`data\`.`,
    }),
  ),
})

const AcceptedSchema = Fields({ accepted: Type.Integer({ description: 'How many items.' }) })

/** The `data` of an event. */
export const ItemEvent = Fields({ agent_id: AgentId, at: Timestamp, data: Data })

const ItemSchema = Fields({ at: Timestamp, data: Data })

const AGENT_FIELDS = {
  agent_id: AgentId,
  first_at: Timestamp,
  last_at: Timestamp,
  items: Type.Integer({ description: 'How many items it has sent.' }),
}

const AgentSchema = Fields(AGENT_FIELDS, { $id: 'TelemetryAgent' })
const AgentWithItem = Fields({ ...AGENT_FIELDS, last_item: ItemSchema })
// Any text is accepted: an id that no agent can have gets agent_not_found, not a validation error.
const AgentParams = Fields({ agent_id: Text({ minLength: 1, maxLength: 1_024 }) })

const encodeAgent = encoderOf(AgentSchema)
export const encodeAgentWithItem = encoderOf(AgentWithItem)
/** The data of an event. */
export const encodeEvent = encoderOf(ItemEvent)
const encodeItem = encoderOf(ItemSchema)

/** Throws `validation_failed`, and `payload_too_large` for an item that the bus would refuse. */
export function parseUpload(body: Static<typeof UploadBody>, now: number): Upload {
  const agentId = body.agent_id
  const items = itemsOf(body, now)
  const lines = items.map((item) => encodeEvent({ agentId, ...item, data: textOf(item) }))
  const content = lines.join('\n')
  const last = items.at(-1) as TelemetryItem
  lines.forEach(requireSize)
  return {
    agentId,
    items: items.length,
    bytes: Buffer.byteLength(content),
    content,
    lastItem: encodeItem({ at: last.at, data: textOf(last) }),
  }
}

function itemsOf({ at, data, items }: Static<typeof UploadBody>, now: number): TelemetryItem[] {
  if (items === undefined) {
    if (data === undefined) throw invalidField('data', 'needed_without_items')
    return [{ at: timeOf('at', at, now), data }]
  }
  if (data !== undefined) throw invalidField('data', 'left_out_with_items')
  if (at !== undefined) throw invalidField('at', 'left_out_with_items')
  return items.map((item, index) => ({ at: timeOf(`items.${index}.at`, item.at, now), data: item.data }))
}

function timeOf(path: string, text: string | undefined, now: number): number {
  return text === undefined ? now : parseTime(path, text)
}

function textOf({ data }: TelemetryItem): JsonText {
  return new JsonText(JSON.stringify(data))
}

function requireSize(line: string, index: number): void {
  // A character has at most three bytes in UTF-8.
  if (line.length * 3 <= MAX_EVENT_BYTES || Buffer.byteLength(line) <= MAX_EVENT_BYTES) return
  const message = `Item ${index} is larger than the ${MAX_EVENT_BYTES} bytes that the bus takes.`
  throw new AppError('too_large', 'payload_too_large', message)
}
