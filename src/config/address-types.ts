import { isIP, isIPv4, isIPv6 } from 'node:net'
import { Secret } from '../kernel/secret.ts'
import { listType, parseEach, textType } from './value-types.ts'
import type { ValueType } from './value-types.ts'

/** Where a socket listens; port 0 lets the system choose. */
export interface ListenAddress {
  /** Without brackets, as `listen` takes it. */
  readonly host: string
  readonly port: number
}

export const listenAddress: ValueType<ListenAddress> = textType({
  name: 'host:port',
  expected: 'host:port such as 127.0.0.1:9600 or [::1]:9600, with port 0 for any that is free',
  parse: parseListenAddress,
  format: ({ host, port }) => (isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`),
})

const LISTEN_ADDRESS = /^(?:\[(?<ipv6>[^\]]+)\]|(?<host>[A-Za-z0-9.-]{1,253})):(?<port>\d{1,5})$/

function parseListenAddress(text: string): ListenAddress | undefined {
  const { ipv6, host = ipv6, port } = LISTEN_ADDRESS.exec(text)?.groups ?? {}
  if (host === undefined || Number(port) > 65_535) return undefined
  const usable = ipv6 === undefined ? isHost(host) : isIPv6(ipv6)
  return usable ? { host, port: Number(port) } : undefined
}

function isHost(text: string): boolean {
  // What looks like an IPv4 address must be one: 127.0.0.256 would otherwise be looked up as a name.
  return /^[\d.]+$/.test(text) ? isIPv4(text) : true
}

export const httpUrl: ValueType<string> = textType({
  name: 'URL',
  expected: 'an http:// or https:// address without credentials, query or fragment',
  parse(text) {
    const url = parseUrl(text, ['http:', 'https:'])
    if (!url || url.username || url.password || url.search || url.hash) return undefined
    return url.href.replace(/(?<!\/)\/+$/, '')
  },
  format: String,
})

export const secretHttpUrl: ValueType<Secret> = textType({
  name: 'URL, secret',
  expected: 'an http:// or https:// address',
  parse: (text) => (parseUrl(text, ['http:', 'https:']) ? new Secret(text) : undefined),
  format: String,
})

/** The address, undefined when it is none with a host and one of these protocols (`https:`). */
export function parseUrl(text: string, protocols: readonly string[]): URL | undefined {
  const url = URL.parse(text)
  return url && url.hostname !== '' && protocols.includes(url.protocol) ? url : undefined
}

/** A network, ready for `BlockList.addSubnet(address, prefixLength, family)`. */
export interface Cidr {
  /** As it is written: `100.64.0.0/16`. */
  readonly text: string
  readonly address: string
  readonly prefixLength: number
  readonly family: 'ipv4' | 'ipv6'
}

export const cidrList: ValueType<readonly Cidr[]> = listType({
  name: 'list of networks',
  expected: 'a list of networks such as 127.0.0.0/8 or ::1/128',
  parse: (items) => parseEach(items, parseCidr),
  format: (cidrs) => cidrs.map(({ text }) => text).join(','),
})

function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return undefined
  const longest = version === 4 ? 32 : 128
  const prefixText = prefix ?? String(longest)
  const prefixLength = Number(prefixText)
  if (!/^\d{1,3}$/.test(prefixText) || prefixLength > longest) return undefined
  const family = version === 4 ? 'ipv4' : 'ipv6'
  return { text: `${address}/${prefixLength}`, address, prefixLength, family }
}

// Smaller pools have no address left beside network, broadcast and gateway; no one site needs a larger one.
const LONGEST_POOL_PREFIX = 30
const SHORTEST_POOL_PREFIX = 12
const POOL_SIZES = `from /${LONGEST_POOL_PREFIX} to /${SHORTEST_POOL_PREFIX}`

export const ipPool: ValueType<Cidr> = textType({
  name: 'IPv4 network',
  expected: `an IPv4 network such as 100.64.0.0/16, ${POOL_SIZES}, named by its first address`,
  parse: parsePool,
  format: ({ text }) => text,
})

function parsePool(text: string): Cidr | undefined {
  const cidr = text.includes('/') ? parseCidr(text) : undefined
  if (cidr?.family !== 'ipv4') return undefined
  if (cidr.prefixLength > LONGEST_POOL_PREFIX || cidr.prefixLength < SHORTEST_POOL_PREFIX) return undefined
  return isFirstAddress(cidr) ? cidr : undefined
}

function isFirstAddress({ address, prefixLength }: Cidr): boolean {
  const number = address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0)
  return number % 2 ** (32 - prefixLength) === 0
}
