import { defineColumns, generated, integer, text } from '../../store/columns.ts'
import { schemaOf } from '../../store/schema.ts'
import type { HeartbeatSeverity } from './model.ts'

export const heartbeats = defineColumns({
  seq: generated(),
  name: text(),
  everySeconds: integer(),
  graceSeconds: integer(),
  severity: text<HeartbeatSeverity>(),
  source: text(),
  createdBy: text(),
  createdAt: integer(),
  updatedBy: text(),
  updatedAt: integer(),
  lastBeatAt: integer().nullable(),
  countedFrom: integer(),
  dueAt: integer(),
  missedAt: integer().nullable(),
})

/** One row: when a worker looked for missed heartbeats the last time. */
const heartbeatChecks = defineColumns({ name: text(), checkedAt: integer() })

export const { db, names, pages, statement } = schemaOf({ heartbeats, heartbeat_checks: heartbeatChecks })
