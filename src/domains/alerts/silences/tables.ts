import { defineColumns, generated, integer, json, text } from '../../../store/columns.ts'
import { schemaOf } from '../../../store/schema.ts'
import type { Matchers } from './model.ts'

export const silences = defineColumns({
  seq: generated(),
  id: text(),
  matchers: json<Matchers>(),
  reason: text(),
  startsAt: integer(),
  endsAt: integer(),
  createdBy: text(),
  createdAt: integer(),
  endedBy: text().nullable(),
  /** When its end has to be worked on; null afterwards. */
  dueAt: integer().nullable(),
})

export const { db, names, pages, statement } = schemaOf({ alert_silences: silences })
