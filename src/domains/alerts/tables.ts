import { defineColumns, generated, integer, text } from '../../store/columns.ts'
import { schemaOf } from '../../store/schema.ts'
import type { AlertLevel, AlertStatus, AlertWeight } from './model.ts'

export const alerts = defineColumns({
  seq: generated(),
  id: text(),
  /** Reports with the same identity belong to the same alert (docs/specification.md, Alerts). */
  identity: text(),
  alarmId: text().nullable(),
  source: text(),
  title: text(),
  body: text(),
  level: integer<AlertLevel>(),
  weight: integer<AlertWeight>(),
  serverAddr: text().nullable(),
  status: text<AlertStatus>(),
  count: integer(),
  firstAt: integer(),
  lastAt: integer(),
  recoveredAt: integer().nullable(),
})

export const { db, names, statement } = schemaOf({ alerts })
