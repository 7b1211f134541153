import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { IdentitySignature } from '../tokens/identity-signature.ts'
import { peerCheck, type Network } from './identity.ts'

/** The address of the client of a request, for limits, the log and the audit trail; never for rights. */
export type ClientAddress = (request: IncomingMessage) => string

/**
 * The address of the TCP peer, unless `X-Forwarded-For` is exactly one address, as a gateway sends it, and the peer is a
 * trusted proxy or has signed it. A list is ignored: the client may have written its first entries.
 */
export function createClientAddress(
  trustedProxies: readonly Network[],
  signature?: Pick<IdentitySignature, 'verify'>,
): ClientAddress {
  const isTrustedPeer = peerCheck(trustedProxies)
  const isTrusted = (request: IncomingMessage) =>
    isTrustedPeer(request.socket.remoteAddress) || signature?.verify(request) === true
  return (request) => {
    const forwardedFor = request.headers['x-forwarded-for']
    if (typeof forwardedFor !== 'string' || isIP(forwardedFor) === 0) return peerAddress(request)
    return isTrusted(request) ? plainAddress(forwardedFor) : peerAddress(request)
  }
}

/** The address of the TCP peer. */
export function peerAddress({ socket }: IncomingMessage): string {
  return plainAddress(socket.remoteAddress ?? '')
}

/** A socket that listens on IPv6 too shows an IPv4 peer as `::ffff:192.0.2.1`. */
function plainAddress(address: string): string {
  const mapped = /^::ffff:(?=\d+\.)/i.exec(address)
  return mapped ? address.slice(mapped[0].length) : address
}
