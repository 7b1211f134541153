import { defineColumns, flag, generated, integer, json, text, schemaOf } from '../../store/columns.ts'
import type { NoteCause } from './transitions.ts'
import type { AlertLevel, AlertStatus, AlertWeight, Freeze, Swing } from './model.ts'

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
  createdBy: text(),
  firstWeight: integer<AlertWeight>(),
  reports: integer(),
  wasCritical: flag(),
  wasHigh: flag(),
  acknowledgedWeight: integer<AlertWeight>().nullable(),
  acknowledgedUntil: integer().nullable(),
  expiresAt: integer().nullable(),
  swings: json<readonly Swing[]>(),
  freeze: json<Freeze>().nullable(),
  groupId: text().nullable(),
  /** The labels of the alert, as JSON; null for a report without labels. */
  labels: text().nullable(),
  repeatEveryMs: integer().nullable(),
  repeatAt: integer().nullable(),
  runbookUrl: text().nullable(),
  startsAt: integer().nullable(),
  generatorUrl: text().nullable(),
  /** When the alert changes by itself; null if it waits for a report or a user. */
  dueAt: integer().nullable(),
  version: integer(),
})

/** Every change after the first report, which the row of the alert itself records. */
export const alertHistory = defineColumns({
  seq: generated(),
  alertId: text(),
  at: integer(),
  fromStatus: text<AlertStatus>(),
  toStatus: text<AlertStatus>(),
  weight: integer<AlertWeight>(),
  actor: text(),
  note: text().nullable(),
  cause: json<NoteCause>().nullable(),
})

/** Groups of Alertmanagers. */
export const alertGroups = defineColumns({
  id: text(),
  /** Until then its alerts fire, unless they are resolved. */
  firesUntil: integer(),
  /** Whether its last notification was not whole. */
  isTruncated: integer<0 | 1>(),
})

export const { changeRow, changeRows, db, names, pages, readRow, readRows } = schemaOf({
  alerts,
  alert_history: alertHistory,
  alert_groups: alertGroups,
})
