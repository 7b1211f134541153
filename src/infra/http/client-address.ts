import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { peerCheck, type Network } from './identity.ts'

/** The address that a request comes from, for counting and for the audit trail; never for rights. */
export type ClientAddress = (request: IncomingMessage) => string

/**
 * The TCP peer's, unless the peer is trusted and names one other address in `X-Forwarded-For`, as a gateway does for
 * the login. A list is not believed: its first entries are what the client wrote.
 */
export function createClientAddress(trustedProxies: readonly Network[]): ClientAddress {
  const isTrusted = peerCheck(trustedProxies)
  return (request) => {
    const forwardedFor = request.headers['x-forwarded-for']
    if (typeof forwardedFor !== 'string' || isIP(forwardedFor) === 0) return peerAddress(request)
    return isTrusted(request.socket.remoteAddress) ? plainAddress(forwardedFor) : peerAddress(request)
  }
}

/** Of the TCP peer. */
export function peerAddress({ socket }: IncomingMessage): string {
  return plainAddress(socket.remoteAddress ?? '')
}

/** A socket that listens on IPv6 too writes an IPv4 peer as `::ffff:192.0.2.1`. */
function plainAddress(address: string): string {
  const mapped = /^::ffff:(?=\d+\.)/i.exec(address)
  return mapped ? address.slice(mapped[0].length) : address
}
