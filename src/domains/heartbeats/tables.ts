import type { FiringSeverity } from '../../kernel/alerts.ts'
import { defineColumns, generated, integer, text, schemaOf } from '../../store/columns.ts'
import type { PingKind } from './model.ts'

export const heartbeats = defineColumns({
  seq: generated(),
  name: text(),
  everySeconds: integer(),
  graceSeconds: integer(),
  severity: text<FiringSeverity>(),
  source: text(),
  createdBy: text(),
  createdAt: integer(),
  updatedBy: text(),
  updatedAt: integer(),
  lastBeatAt: integer().nullable(),
  countedFrom: integer(),
  dueAt: integer(),
  missedAt: integer().nullable(),
  pingHash: text().nullable(),
  schedule: text().nullable(),
  timeZone: text().nullable(),
  maxRunSeconds: integer().nullable(),
  startedAt: integer().nullable(),
  durationSeconds: integer().nullable(),
  version: integer(),
})

export const heartbeatPings = defineColumns({
  seq: generated(),
  heartbeat: text(),
  at: integer(),
  kind: text<PingKind>(),
  exitCode: integer().nullable(),
  durationSeconds: integer().nullable(),
  remoteAddress: text().nullable(),
  body: text(),
})

/** One row: when a worker looked for missed heartbeats the last time. */
const heartbeatChecks = defineColumns({ name: text(), checkedAt: integer() })

export const { changeRow, changeRows, lockable, names, pages, readRow, readRows } = schemaOf({
  heartbeats,
  heartbeat_checks: heartbeatChecks,
  heartbeat_pings: heartbeatPings,
})
