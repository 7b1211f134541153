import { eventObject } from '../../../api/event-stream.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { listOf } from '../sources.ts'
import { listedUsers } from '../user-names.ts'

export type AuditEntry = AnswerOf<'listVpnAudit'>['items'][number]

export const AUDIT_TONES: Readonly<Record<AuditEntry['event'], Tone>> = {
  session_registered: 'good',
  session_closed: 'quiet',
  auth_failed: 'warning',
}

const auditEntryIn = eventObject('VpnAuditEntry')

/** The audit trail of the gateways, as the filters of the address say. */
export const auditList = listOf('listVpnAudit', 'vpn.audit.', {
  filters: [
    { name: 'event', kind: 'choice', values: Object.keys(AUDIT_TONES) },
    { name: 'user', kind: 'reference', choices: listedUsers },
    { name: 'created', kind: 'period' },
  ],
  keyOf: ({ id }) => id,
  fromEvent: auditEntryIn,
})
