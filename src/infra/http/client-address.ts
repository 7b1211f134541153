import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import type { IdentitySignature } from '../tokens/identity-signature.ts'
import { LRUCache } from 'lru-cache'

/** The address of the client of a request, for limits, the log and the audit trail; never for rights. */
export type ClientAddress = (request: IncomingMessage) => string

export interface ClientAddressOptions {
  /** The networks of the proxies that name their callers (`proxy.client_address_from`). */
  readonly proxies?: readonly Network[]
  /** The networks of the peers whose `X-Forwarded-For` counts if it is exactly one address. */
  readonly trustedPeers?: readonly Network[]
  /** Verifies the gateways of this installation, which sign the address of their client. */
  readonly signature?: Pick<IdentitySignature, 'verify'>
}

/**
 * The address that a gateway of the installation has signed, or that a proxy names, or else the address of the TCP peer. A
 * malformed header is ignored: the client may have written it.
 */
export function createClientAddress({
  proxies = [],
  trustedPeers = [],
  signature,
}: ClientAddressOptions): ClientAddress {
  const [isProxy, isTrustedPeer] = [peerCheck(proxies), peerCheck(trustedPeers)]
  return (request) => {
    const peer = peerAddress(request)
    const { headers } = request
    // Most requests have neither header.
    if (headers.forwarded === undefined && headers['x-forwarded-for'] === undefined) return peer
    if (signature?.verify(request)) return singleAddress(headers) ?? peer
    if (isProxy(peer)) return addressFromProxy(headers, isProxy) ?? peer
    return (isTrustedPeer(peer) ? singleAddress(headers) : undefined) ?? peer
  }
}

/** The address of the TCP peer. */
export function peerAddress({ socket }: IncomingMessage): string {
  return plainAddress(socket.remoteAddress ?? '')
}

/** The address in `X-Forwarded-For`. A list is ignored: the client may have written its first entries. */
function singleAddress({ 'x-forwarded-for': address }: IncomingHttpHeaders): string | undefined {
  return typeof address === 'string' && isIP(address) !== 0 ? plainAddress(address) : undefined
}

type PeerCheck = ReturnType<typeof peerCheck>

/**
 * The address that a proxy names. A proxy writes one of the two headers, and may pass the other one on as the client has sent
 * it, so two headers with different addresses are ignored.
 */
function addressFromProxy(headers: IncomingHttpHeaders, isProxy: PeerCheck): string | undefined {
  const { forwarded, 'x-forwarded-for': forwardedFor } = headers
  const found = new Set<string | undefined>()
  if (forwarded !== undefined) found.add(callerOf(addressesOfForwarded(forwarded), isProxy))
  if (typeof forwardedFor === 'string') found.add(callerOf(addressesOfXForwardedFor(forwardedFor), isProxy))
  return found.size === 1 ? [...found][0] : undefined
}

/**
 * Each proxy appends its peer, so addresses are true from the right on up to the first that is not of a proxy. Behind
 * proxies alone it is the first address.
 */
function callerOf(fromTheRight: Iterable<string | undefined>, isProxy: PeerCheck): string | undefined {
  let last: string | undefined
  for (const address of fromTheRight) {
    last = address === undefined ? undefined : plainAddress(address)
    if (last === undefined || !isProxy(last)) break
  }
  return last
}

/** A socket that listens on IPv6 too shows an IPv4 peer as `::ffff:192.0.2.1`. */
function plainAddress(address: string): string {
  const mapped = /^::ffff:(?=\d+\.)/i.exec(address)
  return mapped ? address.slice(mapped[0].length) : address
}

export interface Network {
  readonly address: string
  readonly prefixLength: number
  readonly family: 'ipv4' | 'ipv6'
}

/** A function that tests whether the address of a TCP peer is in one of the networks. */
export function peerCheck(networks: readonly Network[]): (address: string | undefined) => boolean {
  const trusted = new BlockList()
  for (const { address, prefixLength, family } of networks) trusted.addSubnet(address, prefixLength, family)
  // A check is a call of native code, which takes about ten times as long as a lookup in the cache.
  const checked = new LRUCache<string, boolean>({
    max: ADDRESSES_CACHED,
    memoMethod: (address) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'),
  })
  return (address) => address !== undefined && checked.memo(address)
}

const ADDRESSES_CACHED = 1_000

const TOKEN = String.raw`[!#$%&'*+.^_\x60|~0-9A-Za-z-]+`
// Without the comma, at which the elements are told apart, and without escapes, which no address needs.
const QUOTED = String.raw`"[^"\\,]*"`
const PAIR = new RegExp(`^(${TOKEN})=(${TOKEN}|${QUOTED})$`)
const WITH_PORT = /^(?:\[(?<v6>[0-9A-Fa-f:.]+)\]|(?<v4>[0-9.]+))(?::\d{1,5})?$/

/**
 * The addresses of `X-Forwarded-For` from the right, read only as far as they are asked for; undefined for an entry that is
 * no address.
 */
function* addressesOfXForwardedFor(header: string): Generator<string | undefined> {
  for (const entry of fromTheRight(header)) yield addressOf(entry)
}

/**
 * The addresses of `Forwarded` (RFC 7239) from the right. The elements are parted at the last comma first: a client may have begun the header
 * with a quotation mark that it does not end. Such a comma inside of quotes makes the element malformed.
 */
function* addressesOfForwarded(header: string): Generator<string | undefined> {
  for (const element of fromTheRight(header)) yield addressOf(forOf(element) ?? '')
}

function* fromTheRight(list: string): Generator<string> {
  for (let end = list.length; end >= 0;) {
    const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1)
    yield list.slice(comma + 1, end).trim()
    end = comma === -1 ? -1 : comma
  }
}

/** The value of `for` in an element with exactly one. */
function forOf(element: string): string | undefined {
  const values: string[] = []
  for (const part of element.split(';')) {
    const [, name = '', value = ''] = PAIR.exec(part.trim()) ?? []
    if (name === '') return undefined
    if (name.toLowerCase() === 'for') values.push(value.replaceAll('"', ''))
  }
  return values.length === 1 ? values[0] : undefined
}

/** `192.0.2.1`, `2001:db8::1`, and both with a port. */
function addressOf(text: string): string | undefined {
  const { v4, v6 } = WITH_PORT.exec(text)?.groups ?? {}
  const address = v4 ?? v6 ?? text
  return isIP(address) === 0 || address.includes('%') ? undefined : address
}
