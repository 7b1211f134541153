import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { IdentitySignature } from '../tokens/identity-signature.ts'
import { addressesOfForwarded, addressesOfXForwardedFor } from './forwarded-addresses.ts'
import { peerCheck, type Network } from './peer-networks.ts'

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
 * The address that a gateway of the installation has signed; or the one that a proxy names; or else that of the TCP peer.
 * A header that is malformed counts as none: the client may have written it.
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
    if (signature?.verify(request)) return singleAddress(headers) ?? peer
    if (isProxy(peer)) return addressFromProxy(headers, isProxy) ?? peer
    return (isTrustedPeer(peer) ? singleAddress(headers) : undefined) ?? peer
  }
}

/** The address of the TCP peer. */
export function peerAddress({ socket }: IncomingMessage): string {
  return plainAddress(socket.remoteAddress ?? '')
}

/** A list is ignored: the client may have written its first entries. */
function singleAddress({ 'x-forwarded-for': given }: IncomingHttpHeaders): string | undefined {
  return typeof given === 'string' && isIP(given) !== 0 ? plainAddress(given) : undefined
}

type PeerCheck = ReturnType<typeof peerCheck>

/**
 * A proxy writes one of the two headers and may pass the other one on as the client has sent it. So two headers that say
 * different things say nothing.
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
