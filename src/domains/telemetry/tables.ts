import { JsonText } from '../../kernel/text.ts'
import { defineColumns, encoded, generated, integer, text, schemaOf } from '../../store/columns.ts'

const jsonText = encoded<JsonText, string>({
  encode: (value) => value.text,
  decode: (stored) => new JsonText(stored),
})

/** The row of an agent. */
export const agents = defineColumns({
  seq: generated(),
  agentId: text(),
  /** When the platform accepted its first item. */
  firstAt: integer(),
  lastAt: integer(),
  /** How many items it has sent. */
  items: integer(),
  /** When its token bucket is full again, in epoch microseconds. */
  bucketFullAt: integer(),
  /** As it is on the wire. */
  lastItem: jsonText,
  /** When the bus refused an item of the agent; null if it has accepted one since. */
  refusedAt: integer().nullable(),
})

/** The items of one request, which wait together: the outbox of telemetry. */
export const uploads = defineColumns({
  /** The order in which the items of an agent are sent. */
  seq: generated(),
  /** The ids of its events are derived from it. */
  id: text(),
  agentId: text(),
  items: integer(),
  /** Length of the content. */
  bytes: integer(),
  /** How many of its items are delivered, or refused and dead messages, from the first one on. */
  sent: integer(),
  acceptedAt: integer(),
  acceptedBy: text(),
  deliveredAt: integer().nullable(),
  /** The newest message when it was accepted: its position in the live stream. */
  afterMessage: integer(),
  /** The data of each event as JSON, one on a line. */
  content: text(),
  trace: text().nullable(),
})

/** One row, which changes together with the other tables. */
export const totals = defineColumns({
  pendingItems: integer(),
  pendingBytes: integer(),
  agents: integer(),
  /** The highest number of an upload that was removed. */
  removedUpTo: integer(),
})

export const { changeRow, changeRows, db, names, pages, readRow, readRows } = schemaOf({
  telemetry_agents: agents,
  telemetry_uploads: uploads,
  telemetry_totals: totals,
})
