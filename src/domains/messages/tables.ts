import { defineColumns, generated, integer, json, text } from '../../store/columns.ts'
import { schemaOf } from '../../store/schema.ts'
import type { MessageStatus } from './model.ts'

export const messages = defineColumns({
  /** The order in which messages of one subject are sent. */
  seq: generated(),
  id: text(),
  subject: text(),
  /** JSON text, as it is sent on the bus. */
  payload: text(),
  headers: json<Readonly<Record<string, string>>>(),
  status: text<MessageStatus>(),
  attempts: integer(),
  lastError: text().nullable(),
  createdAt: integer(),
  deliveredAt: integer().nullable(),
})

export const { db, names, statement } = schemaOf({ messages })
