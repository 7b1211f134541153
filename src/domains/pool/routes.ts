import { Type } from 'typebox'
import { JsonText } from '../../kernel/text.ts'
import { encoderOf } from '../../wire/codec.ts'
import { ok, type Route, routeOf } from '../../wire/route.ts'
import { Fields } from '../../wire/schemas.ts'
import type { AddressPool } from './service.ts'

const route = routeOf('VPN')

/** docs/specification.md, HTTP API */
export function poolRoutes(pool: AddressPool): Route[] {
  return [
    route({
      method: 'GET',
      path: '/vpn/pool',
      operation: 'getVpnPool',
      summary: 'How full the address pool is',
      access: ['admin', 'devops', 'auditor'],
      answers: { 200: { description: 'The pool, counted now.', schema: PoolSchema } },
      read: async () => ok(new JsonText(encodePool(await pool.usage()))),
    }),
  ]
}

const Addresses = (description: string) => Type.Integer({ minimum: 0, description })

const PoolSchema = Fields(
  {
    cidr: Type.String({ examples: ['100.64.0.0/16'] }),
    size: Addresses('Addresses that can be leased: without network, gateway and broadcast.'),
    used: Addresses('Held by live sessions.'),
    cooling: Addresses('Released a short time ago: reserved for the device that had them.'),
    free: Addresses('Free for every device.'),
  },
  { $id: 'VpnPool' },
)

export const encodePool = encoderOf(PoolSchema)
