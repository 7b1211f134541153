import type { AuditEventName } from './model.ts'
import type { AuditWire } from './schemas.ts'

/** The audit trail on the bus (contract, section 4: Subjects). */
export const VPN_EVENTS = {
  session_registered: 'vpn.audit.session_registered',
  session_closed: 'vpn.audit.session_closed',
  auth_failed: 'vpn.audit.auth_failed',
} as const satisfies Record<AuditEventName, string>

export interface VpnEvent {
  readonly type: (typeof VPN_EVENTS)[AuditEventName]
  /** The session's id; for `auth_failed` the remote address, or the gateway's name when it stands for many. */
  readonly subject: string
  readonly data: AuditWire
}
