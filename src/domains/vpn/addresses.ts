import { invalidField } from '../../kernel/errors.ts'

/** The addresses that may be handed out; all as numbers of four bytes. */
export interface AddressPool {
  readonly cidr: string
  /** 12 to 30. */
  readonly prefixLength: number
  /** The first address that is handed out: the one before is the gateway's. */
  readonly first: number
  readonly last: number
  /** How many there are. */
  readonly size: number
}

const CIDR = /^((?:\d{1,3}\.){3}\d{1,3})\/(\d{1,2})$/

// A smaller one has no address to hand out; no one site needs a larger one.
const SHORTEST_PREFIX = 12
const LONGEST_PREFIX = 30

/** Throws `validation_failed` for anything but an IPv4 network from /30 to /12 that is named by its first address. */
export function parsePool(cidr: string): AddressPool {
  const [, address = '', prefix = ''] = CIDR.exec(cidr) ?? []
  const prefixLength = Number(prefix)
  const count = 2 ** (32 - prefixLength)
  const network = parseAddress(address)
  const isUsable =
    network !== undefined &&
    prefixLength >= SHORTEST_PREFIX &&
    prefixLength <= LONGEST_PREFIX &&
    network % count === 0
  if (!isUsable) throw invalidField('vpn.ip_pool', 'must be an IPv4 network such as 100.64.0.0/16')
  // Network, gateway and broadcast are never handed out.
  const [first, last] = [network + 2, network + count - 2]
  return { cidr, prefixLength, first, last, size: last - first + 1 }
}

/** Dotted. */
export function formatAddress(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}

function parseAddress(dotted: string): number | undefined {
  const bytes = dotted.split('.').map(Number)
  if (dotted === '' || bytes.some((byte) => byte > 255)) return undefined
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0)
}
