import type { AuditActorKind, AuditChanges, AuditOutcome } from '../../kernel/audit.ts'
import { defineColumns, generated, integer, json, text, schemaOf } from '../../store/columns.ts'

export const entries = defineColumns({
  seq: generated(),
  id: text(),
  at: integer(),
  actorId: text(),
  actorName: text(),
  actorKind: text<AuditActorKind>(),
  operation: text(),
  targetKind: text(),
  targetId: text().nullable(),
  requestId: text().nullable(),
  remoteAddress: text().nullable(),
  changes: json<AuditChanges>(),
  outcome: text<AuditOutcome>(),
})

/** The seal of up to 1,000 entries that follow each other. */
export const seals = defineColumns({
  page: integer(),
  /** How many entries were ever sealed, including this page. */
  total: integer(),
  /** The time of its newest entry. */
  newestAt: integer(),
  /** The key that it was made with. */
  keyId: text(),
  /** The code of the entry before its first one; empty for the first page. */
  previous: text(),
  /** The number and the code of each entry, oldest first. */
  codes: json<readonly (readonly [seq: number, code: string])[]>(),
})

/** The settings of a process at its last start: an HMAC for each key. */
export const auditSettings = defineColumns({
  process: text(),
  keyId: text(),
  hashes: json<Record<string, string>>(),
})

export const { changeRow, changeRows, names, pages, readRow, readRows } = schemaOf({
  audit_entries: entries,
  audit_seals: seals,
  audit_settings: auditSettings,
})
