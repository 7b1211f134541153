import { EVENT_HEADERS } from '../../kernel/events.ts'
import type { BusFault } from '../../kernel/bus.ts'
import type { SentenceCause } from '../../kernel/errors.ts'
import { defineColumns, encoded, generated, integer, json, text, schemaOf } from '../../store/columns.ts'
import type { MessageStatus } from './model.ts'

type Headers = Readonly<Record<string, string>>

/** The headers of every event, as they are stored. */
export const EVENT_HEADERS_TEXT = JSON.stringify(EVENT_HEADERS)

/** As JSON; all events have the same headers, which are encoded once. */
const headers = encoded<Headers, string>({
  encode: (value) => (value === EVENT_HEADERS ? EVENT_HEADERS_TEXT : JSON.stringify(value)),
  decode: (stored) => JSON.parse(stored) as Headers,
})

export const messages = defineColumns({
  /** The order in which messages of one subject are sent. */
  seq: generated(),
  id: text(),
  subject: text(),
  /** JSON text, as it is sent on the bus. */
  payload: text(),
  headers,
  status: text<MessageStatus>(),
  attempts: integer(),
  lastError: text().nullable(),
  cause: json<SentenceCause<BusFault>>().nullable(),
  createdAt: integer(),
  deliveredAt: integer().nullable(),
  /** The trace of a message of a user; an event has its trace in its payload. */
  trace: text().nullable(),
})

/** How far the log of the events has been removed. */
export const eventLogs = defineColumns({
  name: text(),
  /** The highest `seq` that was removed. */
  removedUpTo: integer(),
})

export const { changeRow, changeRows, db, names, pages, readRow, readRows } = schemaOf({
  messages,
  event_logs: eventLogs,
})
