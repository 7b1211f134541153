import { BlockList, isIP } from 'node:net'
import { lookup, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import PQueue from 'p-queue'
import { formatIpv4 } from '../../kernel/addresses.ts'
import { SECOND } from '../../kernel/time.ts'
import { errorCode } from '../../kernel/errors.ts'

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

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** The addresses of a name. */
export type Resolve = (name: string) => Promise<readonly ResolvedAddress[]>

interface HostResolverOptions {
  /** Servers of DNS, with ports; by default those of the system. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
  /** The look-up of the system, for the names that DNS does not have. */
  readonly lookUp?: Resolve
  /** Whether this host has addresses of networks, and those are IPv6. */
  readonly isIpv6Only?: () => boolean
}

// Together 6 s: less than a call of an endpoint may last.
const DNS_TIMEOUT_MS = 2 * SECOND
const DNS_TRIES = 2
/** How long the addresses of the family that the host has wait for the others: the Resolution Delay of RFC 8305, section 3. */
const RESOLUTION_DELAY_MS = 50
// Two of the four threads that also read files and hash passwords.
const SYSTEM_LOOKUPS = 2
/** DNS has no such name, or the host has no DNS. */
const UNKNOWN_TO_DNS = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']

/**
 * Resolves names by the hosts file, then by DNS, without a thread: names whose servers hang delay no others, and no file
 * access. The system's own resolution, which needs a thread for as long as it lasts, is asked last, for a few names at a time.
 */
export function createHostResolver(options: HostResolverOptions = {}): Resolve {
  const { servers, hostsFile = '/etc/hosts', lookUp = lookUpHost, isIpv6Only = hostIsIpv6Only } = options
  const lookups = new PQueue({ concurrency: SYSTEM_LOOKUPS })
  return async (name) => {
    const listed = addressesIn(await readFile(hostsFile, 'utf8').catch(() => ''), name)
    if (listed.length > 0) return listed
    try {
      return await askDns(name, isIpv6Only(), servers)
    } catch (error) {
      if (!UNKNOWN_TO_DNS.includes(errorCode(error) ?? '')) throw error
      return lookups.add(() => lookUp(name))
    }
  }
}

function lookUpHost(name: string): Promise<readonly ResolvedAddress[]> {
  return lookup(name, { all: true, verbatim: true })
}

function hostIsIpv6Only(): boolean {
  const addresses = networkAddresses()
  return addresses.length > 0 && addresses.every(({ family }) => family === 'IPv6')
}

/** The addresses of this host in networks; none where a unit forbids to ask for them (AF_NETLINK). */
function networkAddresses(): os.NetworkInterfaceInfo[] {
  try {
    const addresses = Object.values(os.networkInterfaces()).flatMap((each) => each ?? [])
    // Every interface has an address of its link (RFC 4291, section 2.5.6).
    return addresses.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  } catch {
    return []
  }
}

/**
 * The addresses of both families, IPv4 first; rejects if there is none of either. Those that the host can call wait only a moment
 * for the others: there are servers that never answer the question for IPv6. The others wait for them: alone they may be of no use.
 */
async function askDns(
  name: string,
  isIpv6Only: boolean,
  servers?: readonly string[],
): Promise<readonly ResolvedAddress[]> {
  // A new one reads the present settings of the system.
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
  if (servers) resolver.setServers(servers)
  const [forIpv4, forIpv6] = [resolver.resolve4(name), resolver.resolve6(name)]
  const answered = Promise.allSettled([forIpv4, forIpv6])
  const soonAfterOwn = (isIpv6Only ? forIpv6 : forIpv4).then(() => sleep(RESOLUTION_DELAY_MS))
  await Promise.race([answered, soonAfterOwn.catch(() => answered)])
  resolver.cancel()
  const answers = await answered
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length > 0) return addresses.map(withFamily)
  const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []))
  throw (
    reasons.find((reason) => !UNKNOWN_TO_DNS.includes(errorCode(reason) ?? '')) ??
    reasons[0] ??
    new Error(name)
  )
}

function addressesIn(hosts: string, name: string): ResolvedAddress[] {
  const wanted = name.toLowerCase()
  return hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    return isIP(address) > 0 && names.some((each) => each.toLowerCase() === wanted)
      ? [withFamily(address)]
      : []
  })
}

const withFamily = (address: string): ResolvedAddress => ({ address, family: isIP(address) })
