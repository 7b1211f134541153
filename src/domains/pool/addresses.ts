import { invalidField } from '../../kernel/errors.ts'
import { parseIpv4 } from '../../kernel/addresses.ts'

/** The addresses of a pool, each as one number of four bytes. */
export interface AddressRange {
  readonly cidr: string
  /** 8 to 30. */
  readonly prefixLength: number
  /** The first address that can be leased; the one before is the gateway's. */
  readonly first: number
  readonly last: number
  /** The number of addresses that can be leased. */
  readonly size: number
}

const CIDR = /^([\d.]+)\/(\d{1,2})$/

// A /31 has no address to lease; no private network is larger than 10.0.0.0/8.
const SHORTEST_PREFIX = 8
const LONGEST_PREFIX = 30

/** Throws `validation_failed` unless the CIDR is an IPv4 network from /8 to /30, written with its first address. */
export function parseRange(cidr: string): AddressRange {
  const [, address = '', prefix = ''] = CIDR.exec(cidr) ?? []
  const network = parseIpv4(address)
  const prefixLength = Number(prefix)
  const count = 2 ** (32 - prefixLength)
  const isUsable =
    network !== undefined &&
    prefixLength >= SHORTEST_PREFIX &&
    prefixLength <= LONGEST_PREFIX &&
    network % count === 0
  if (!isUsable)
    throw invalidField('vpn.ip_pool', 'invalid', { reason: 'must be an IPv4 network such as 100.64.0.0/16' })
  // Network, gateway and broadcast are never leased.
  const [first, last] = [network + 2, network + count - 2]
  return { cidr, prefixLength, first, last, size: last - first + 1 }
}
