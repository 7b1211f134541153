import { defineColumns, flag, generated, integer, json, text, schemaOf } from '../../store/columns.ts'
import type { AlertLevel, AlertStatus, AlertWeight, Freeze, Swing } from './model.ts'
import type { NoteCause } from './transitions.ts'

/** The columns of an `AlertView`. */
const VIEW = {
  id: text(),
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
  runbookUrl: text().nullable(),
  startsAt: integer().nullable(),
  generatorUrl: text().nullable(),
  labels: text().nullable(),
  version: integer(),
}

export const alertViews = defineColumns(VIEW)

export const alerts = defineColumns({
  seq: generated(),
  /** Reports with the same identity belong to the same alert (docs/specification.md, Alerts). */
  identity: text(),
  ...VIEW,
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
  repeatEveryMs: integer().nullable(),
  repeatAt: integer().nullable(),
  /** When the alert changes by itself; null if it waits for a report or a user. */
  dueAt: integer().nullable(),
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
  isTruncated: flag(),
})

export const { changeRow, changeRows, db, names, pages, readRow, readRows } = schemaOf({
  alerts,
  alert_history: alertHistory,
  alert_groups: alertGroups,
})
