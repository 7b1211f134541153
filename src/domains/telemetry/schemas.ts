import { Type, type Static } from 'typebox'
import { AppError, invalidField } from '../../kernel/errors.ts'
import { JsonText } from '../../kernel/json-text.ts'
import { encoderOf, parseTime } from '../../wire/codec.ts'
import { PageOf } from '../../wire/page.ts'
import { Fields, Text, Timestamp } from '../../wire/schemas.ts'
import { MAX_EVENT_BYTES, MAX_ITEMS, type Item, type Upload } from './model.ts'

// More would not fit into a body.
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

export const UploadBody = Fields({
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

export const AcceptedSchema = Fields({ accepted: Type.Integer({ description: 'How many items.' }) })

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
export const AgentWithItem = Fields({ ...AGENT_FIELDS, last_item: ItemSchema })
export const AgentPage = PageOf(AgentSchema)
// Any text is accepted: an id that no agent can have gets agent_not_found, not a validation error.
export const AgentParams = Fields({ agent_id: Text({ minLength: 1, maxLength: 1_024 }) })

export const encodeAgent = encoderOf(AgentSchema)
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
  const last = items.at(-1) as Item
  lines.forEach(requireSize)
  return {
    agentId,
    items: items.length,
    bytes: Buffer.byteLength(content),
    content,
    lastItem: encodeItem({ at: last.at, data: textOf(last) }),
  }
}

function itemsOf({ at, data, items }: Static<typeof UploadBody>, now: number): Item[] {
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

function textOf({ data }: Item): JsonText {
  return new JsonText(JSON.stringify(data))
}

function requireSize(line: string, index: number): void {
  // A character has at most three bytes in UTF-8.
  if (line.length * 3 <= MAX_EVENT_BYTES || Buffer.byteLength(line) <= MAX_EVENT_BYTES) return
  const message = `Item ${index} is larger than the ${MAX_EVENT_BYTES} bytes that the bus takes.`
  throw new AppError('too_large', 'payload_too_large', message)
}
