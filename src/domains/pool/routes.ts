import { JsonText } from '../../kernel/json-text.ts'
import { ok, route, type Route } from '../../wire/route.ts'
import { encodePool, PoolSchema } from './schemas.ts'
import type { AddressPool } from './service.ts'

/** docs/specification.md, HTTP API */
export function poolRoutes(pool: AddressPool): Route[] {
  return [
    route({
      method: 'GET',
      path: '/vpn/pool',
      operation: 'getVpnPool',
      tag: 'VPN',
      summary: 'How full the address pool is',
      access: ['admin', 'devops', 'auditor'],
      answers: { 200: { description: 'The pool, counted now.', schema: PoolSchema } },
      read: async () => ok(new JsonText(encodePool(await pool.usage()))),
    }),
  ]
}
