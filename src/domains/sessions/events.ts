import type { AuditEventName } from './model.ts'

/** The audit trail on the bus (docs/specification.md, Events). */
export const SESSION_EVENTS = {
  session_registered: 'vpn.audit.session_registered',
  session_closed: 'vpn.audit.session_closed',
  auth_failed: 'vpn.audit.auth_failed',
} as const satisfies Record<AuditEventName, string>
