import { BlockList, isIP } from 'node:net'
import { formatIpv4 } from '../../kernel/addresses.ts'

interface Network {
  readonly address: string
  readonly prefixLength: number
  readonly family: 'ipv4' | 'ipv6'
}

// IANA's registries of special-purpose addresses (RFC 6890), multicast, and what clouds serve to their machines.
const REFUSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
const REFUSED_IPV6 = [
  '::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

const GROUPS = 8

/** Which addresses may be called: not those of this host, of private networks, and of the clouds' metadata. */
export class AddressRules {
  readonly #refused = new BlockList()
  readonly #allowed = new BlockList()
  readonly allowsPrivate: boolean

  /** `allowed`: networks that may be called although they are not public. */
  constructor(allowed: readonly Network[]) {
    for (const [family, networks] of [
      ['ipv4', REFUSED_IPV4],
      ['ipv6', REFUSED_IPV6],
    ] as const) {
      for (const network of networks) {
        const [address = '', length] = network.split('/')
        this.#refused.addSubnet(address, Number(length), family)
      }
    }
    for (const { address, prefixLength, family } of allowed)
      this.#allowed.addSubnet(address, prefixLength, family)
    this.allowsPrivate = allowed.length > 0
  }

  /** Whether an address may be called; without TLS only in the allowed networks. */
  allows(address: string, isEncrypted: boolean): boolean {
    const carried = carriedIpv4(address)
    const [checked, family] =
      carried === undefined ? [address, familyOf(address)] : [carried, 'ipv4' as const]
    // An address with a zone is of the local link.
    if (family === undefined || checked.includes('%')) return false
    if (this.#allowed.check(checked, family)) return true
    return isEncrypted && !this.#refused.check(checked, family)
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address)
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6'
}

/** The IPv4 address that an IPv6 address stands for: mapped, by NAT64 (RFC 6052) or by 6to4 (RFC 3056). */
function carriedIpv4(address: string): string | undefined {
  if (isIP(address) !== 6 || address.includes('%')) return undefined
  const groups = groupsOf(address)
  const begin = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(':')
  const isAtEnd = begin === '0:0:0:0:0:ffff' || begin === '0:0:0:0:ffff:0' || begin === '64:ff9b:0:0:0:0'
  if (isAtEnd) return dottedAddress(groups[6], groups[7])
  return groups[0] === 0x2002 ? dottedAddress(groups[1], groups[2]) : undefined
}

function dottedAddress(high = 0, low = 0): string {
  return formatIpv4(high * 0x1_00_00 + low)
}

/** The URL parser writes an address with a dotted end as groups. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [left, right] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [
    string[],
    string[],
  ]
  const zeros = Array<string>(Math.max(0, GROUPS - left.length - right.length)).fill('0')
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16))
}
