import type { LiveEvent } from '../../../api/event-stream.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { call, live } from '../platform.ts'
import { listedUsers } from '../user-names.ts'

export type AuditEntry = AnswerOf<'listVpnAudit'>['items'][number]

export const AUDIT_TONES: Readonly<Record<AuditEntry['event'], Tone>> = {
  session_registered: 'good',
  session_closed: 'quiet',
  auth_failed: 'warning',
}

const PAGE_LENGTH = 50

/** The audit trail of the gateways, as the filters of the address say. */
export const auditList: ListSource<AuditEntry> = {
  filters: [
    { name: 'event', kind: 'choice', values: Object.keys(AUDIT_TONES) },
    { name: 'user', kind: 'reference', choices: listedUsers },
    { name: 'created_from', kind: 'time' },
    { name: 'created_to', kind: 'time' },
  ],
  live,
  prefix: 'vpn.audit.',
  read: (query, signal) => call('listVpnAudit', { query: { ...query, limit: PAGE_LENGTH } }, signal),
  keyOf: ({ id }) => id,
  fromEvent: auditEntryIn,
}

function auditEntryIn({ data }: LiveEvent): AuditEntry | null {
  return typeof data === 'object' && data !== null && 'remote_address' in data ? (data as AuditEntry) : null
}
