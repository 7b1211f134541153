import type { AuditRecord } from '../../kernel/audit.ts'

/** A row of the trail. */
export interface TrailEntry extends AuditRecord {
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
}

/** What the authentication code (HMAC) of an entry is computed from, as the database has it. */
export interface SealedRow {
  readonly seq: number
  readonly id: string
  readonly at: number
  readonly actorId: string
  readonly actorName: string
  readonly actorKind: string
  readonly operation: string
  readonly targetKind: string
  readonly targetId: string | null
  readonly requestId: string | null
  readonly remoteAddress: string | null
  readonly changes: string
  readonly outcome: string
}

/** A key of the seals; the id tells which key a page was sealed with. */
export interface AuditKey {
  readonly id: string
  readonly bytes: Buffer
}

/** The keys of the seals: the newest first. */
export type AuditKeys = readonly [AuditKey, ...AuditKey[]]

/** How far the trail was sealed, with the authentication code of the last entry, which depends on all entries before it. */
export interface AuditSeal {
  /** How many entries were ever sealed. */
  readonly total: number
  readonly code: string
}

/** docs/specification.md, Audit */
export const PAGE_ENTRIES = 1_000

/** `1234:Xa…`, as the log, the file of the newest seal and the manifests of backups have it. */
export function formatSeal({ total, code }: AuditSeal): string {
  return `${total}:${code}`
}

/** Undefined for a text that is no seal. */
export function parseSeal(text: string): AuditSeal | undefined {
  const [, total, code] = /^(\d{1,15}):([\w-]{22})$/.exec(text) ?? []
  return total !== undefined && code !== undefined ? { total: Number(total), code } : undefined
}
