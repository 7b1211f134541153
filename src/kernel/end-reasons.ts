/**
 * Why the platform ends a session, or refuses its connection: the sentences of close frames and of the audit trail, by their
 * stable codes (docs/specification.md, Gateway). Whoever ends a session says one of these; programs read the code.
 */
export const END_REASONS = {
  gateway_restarted: 'the gateway was restarted',
  gateway_stopping: 'the gateway is stopping',
  gateway_silent: 'the gateway was silent for too long',
  registry_lost: 'the gateway has lost its session registry',
  connection_lost: 'the connection was lost',
  closed_by_client: 'closed by the client',
  device_reconnected: 'the device has connected again',
  by_operator: 'disconnected by an operator',
  signed_out: 'the user has signed out',
  password_changed: 'the password was changed',
  user_deleted: 'the user was deleted',
  user_disabled: 'the user was disabled',
  roles_changed: 'the roles of the user were changed',
  user_changed_on_primary: 'the user was changed on the primary',
  user_deleted_on_primary: 'the user was deleted on the primary',
  no_heartbeat: '2 heartbeats without an answer',
  frame_invalid: 'the frame is not valid',
  output_unread: 'more than 1 MiB is unread',
  memory_needed: 'answers are not read while others wait for memory',
  token_expired: 'the token has expired',
  token_revoked: 'the token was revoked',
  token_invalid: 'the token is not valid',
  renewal_invalid: 'the token for the renewal is not valid',
  token_too_long: 'The token is longer than 8 KiB.',
  no_role: 'The token names no role of the platform.',
  authorization_malformed: 'The Authorization header must be "Bearer" and a token.',
} as const

/** `many_refusals`: an entry that stands for refusals from many addresses. */
export const AUDIT_CODES = [
  ...(Object.keys(END_REASONS) as (keyof typeof END_REASONS)[]),
  'many_refusals',
] as const
/** The code of a reason in the audit trail. */
export type AuditCode = (typeof AUDIT_CODES)[number]

const CODES = new Map<string, AuditCode>(
  AUDIT_CODES.flatMap((code) => (code === 'many_refusals' ? [] : [[END_REASONS[code], code]])),
)

/** The code of a reason; undefined for one of a client or a library. */
export function auditCodeOf(reason: string): AuditCode | undefined {
  return CODES.get(reason)
}
