import { lookup, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import PQueue from 'p-queue'
import { SECOND } from '../../kernel/time.ts'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** The addresses of a name. */
export type Resolve = (name: string) => Promise<readonly ResolvedAddress[]>

export interface HostResolverOptions {
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
      if (!UNKNOWN_TO_DNS.includes(codeOf(error))) throw error
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
  throw reasons.find((reason) => !UNKNOWN_TO_DNS.includes(codeOf(reason))) ?? reasons[0] ?? new Error(name)
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

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
