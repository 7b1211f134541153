import { Type } from 'typebox'
import { encoderOf } from '../../wire/codec.ts'
import { Fields } from '../../wire/schemas.ts'

const Addresses = (description: string) => Type.Integer({ minimum: 0, description })

export const PoolSchema = Fields(
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
