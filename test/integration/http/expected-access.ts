import type { Role } from '../../../src/kernel/identity.ts'

/** Who may call: everybody, any identified caller, or callers with one of these roles. */
export type Expected = 'public' | 'known' | readonly Role[]

const ANY_ROLE = ['admin', 'devops', 'service', 'auditor'] as const
const OPERATORS = ['admin', 'devops'] as const

/**
 * The operations and who may call them, written by hand: the table is compared with the code and never generated from
 * it.
 */
export const EXPECTED_ACCESS: Readonly<Record<string, Expected>> = {
  'GET /health': 'public',
  'GET /metrics': 'public',
  'POST /auth/login': 'public',
  'GET /auth/oauth/login': 'public',
  'GET /auth/oauth/callback': 'public',
  'POST /auth/oauth/redeem': 'public',
  'GET /auth/me': 'known',
  'POST /orders': ['admin', 'service'],
  'GET /orders': ['admin', 'service', 'devops'],
  'GET /orders/{order_id}': ['admin', 'service', 'devops'],
  'GET /orders/{order_id}/history': ['admin', 'service', 'devops'],
  'PUT /orders/{order_id}': ['admin', 'service'],
  'GET /messages': ANY_ROLE,
  'GET /messages/{id}': ANY_ROLE,
  'POST /messages/publish': ['admin', 'service'],
  'POST /messages/{id}/redrive': OPERATORS,
  'POST /alerts/report': ['admin', 'service', 'devops'],
  'GET /alerts': ANY_ROLE,
  'GET /alerts/{id}': ANY_ROLE,
  'GET /alerts/{id}/decisions': ANY_ROLE,
  'POST /alerts/{id}/recover': OPERATORS,
  'POST /alerts/{id}/acknowledge': OPERATORS,
  'POST /alerts/{id}/unfreeze': OPERATORS,
  'PUT /alerts/heartbeats/{name}': OPERATORS,
  'GET /alerts/heartbeats': ANY_ROLE,
  'DELETE /alerts/heartbeats/{name}': OPERATORS,
  'POST /alerts/heartbeats/{name}/beat': ['admin', 'devops', 'service'],
  'POST /api/v2/alerts': ['admin', 'devops', 'service'],
  'POST /alerts/alertmanager': ['admin', 'devops', 'service'],
  'GET /alerts/{id}/history': ANY_ROLE,
  'POST /alerts/silences': OPERATORS,
  'GET /alerts/silences': ['admin', 'devops', 'auditor'],
  'DELETE /alerts/silences/{id}': OPERATORS,
  'GET /tickets': ANY_ROLE,
  'GET /tickets/{id}': ANY_ROLE,
  'GET /tickets/{id}/history': ANY_ROLE,
  'POST /tickets': ['admin', 'service', 'devops'],
  'PUT /tickets/{id}': ['admin', 'service', 'devops'],
  'GET /users': ['admin'],
  'POST /users': ['admin'],
  'GET /users/{id}': ['admin'],
  'PATCH /users/{id}': ['admin'],
  'DELETE /users/{id}': ['admin'],
  // Of another user; one's own is everybody's, and has a test of its own.
  'PUT /users/{id}/password': ['admin'],
  'GET /menus': ANY_ROLE,
  'PUT /menus': ['admin'],
  'DELETE /menus/{id}': ['admin'],
  'GET /certificates': ['admin', 'devops', 'auditor'],
  'GET /certificates/{id}': ['admin', 'devops', 'auditor'],
  'GET /certificates/{id}/pem': ['admin', 'devops', 'auditor'],
  'POST /certificates': OPERATORS,
  'POST /certificates/{id}/revoke': OPERATORS,
  'DELETE /certificates/{id}': ['admin'],
  'GET /data/backups': OPERATORS,
  'GET /data/backups/{id}': OPERATORS,
  'GET /data/backups/{id}/file': ['admin'],
  'DELETE /data/backups/{id}': ['admin'],
  'POST /data/backups': OPERATORS,
  'POST /data/backups/prune': OPERATORS,
  // By policy: every role may ask, and gets the commands that the policy allows for it.
  'GET /commands': ANY_ROLE,
  'POST /commands/{id}/execute': ANY_ROLE,
  'GET /commands/executions': ANY_ROLE,
  'GET /commands/executions/{id}': ANY_ROLE,
  'GET /commands/executions/{id}/output': ANY_ROLE,
  'POST /commands/executions/{id}/approve': ANY_ROLE,
  'POST /commands/executions/{id}/reject': ANY_ROLE,
  'POST /commands/executions/{id}/cancel': ANY_ROLE,
  'GET /commands/{id}/access': ['admin', 'auditor'],
  'GET /commands/policy/history': ['admin', 'auditor'],
  'GET /commands/policy': ['admin', 'auditor'],
  'PUT /commands/policy': ['admin'],
  'POST /api/v1/telemetry': ['admin', 'service'],
  'GET /api/v1/telemetry/agents': ANY_ROLE,
  'GET /api/v1/telemetry/agents/{agent_id}': ANY_ROLE,
  'GET /events': ANY_ROLE,
  'GET /vpn/sessions': ['admin', 'devops', 'auditor'],
  'DELETE /vpn/sessions/{id}': OPERATORS,
  'GET /vpn/pool': ['admin', 'devops', 'auditor'],
  'GET /vpn/audit': ['admin', 'devops', 'auditor'],
}

/** Operations that this release does not have yet; an operation that exists is an error here. */
export const NOT_YET: readonly RegExp[] = []
