import type { SentenceCause } from '../../kernel/errors.ts'
import { defineColumns, generated, integer, json, text, schemaOf } from '../../store/columns.ts'
import type { AuditCode, AuditEventName } from './model.ts'

/** One run of a gateway, from its start to its stop. */
export const gateways = defineColumns({
  runId: text(),
  name: text(),
  address: text(),
  heartbeatMs: integer(),
  startedAt: integer(),
  lastSeenAt: integer(),
  /** When it stopped, was found dead, or was replaced by a run of the same name. */
  leftAt: integer().nullable(),
})

export const sessions = defineColumns({
  seq: generated(),
  id: text(),
  userId: text(),
  userName: text(),
  device: text().nullable(),
  /** The four bytes of the virtual address as one number. */
  address: integer(),
  /** The name of the gateway. */
  gateway: text(),
  runId: text(),
  remoteAddress: text(),
  /** The API token that opened it. */
  tokenId: text().nullable(),
  connectedAt: integer(),
  lastSeenAt: integer(),
  rttUs: integer().nullable(),
  closedAt: integer().nullable(),
  closeCode: integer().nullable(),
  closeReason: text().nullable(),
  /** The end is pending: 1 until the gateway has acknowledged an end that was decided elsewhere, else null. */
  untold: integer().nullable(),
})

export const audit = defineColumns({
  seq: generated(),
  id: text(),
  at: integer(),
  event: text<AuditEventName>(),
  sessionId: text().nullable(),
  userId: text().nullable(),
  /** This column and the next two are null in entries of releases that did not write them. */
  userName: text().nullable(),
  device: text().nullable(),
  virtualIp: text().nullable(),
  gateway: text(),
  remoteAddress: text().nullable(),
  reason: text().nullable(),
  cause: json<SentenceCause<AuditCode>>().nullable(),
})

export const { changeRow, changeRows, db, names, pages, readRow, readRows } = schemaOf({
  vpn_audit: audit,
  vpn_gateways: gateways,
  vpn_sessions: sessions,
})
