import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { AppError } from '../../kernel/errors.ts'
import { type Identity, knownRoles } from '../../kernel/identity.ts'
import { decodeIdentityToken, TOKEN_HEADER } from '../../kernel/identity-signature.ts'
import type { Authenticator } from '../../ports/authentication.ts'
import type { IdentitySignature } from '../tokens/identity-signature.ts'
import { type ClientAddress, type Network, peerAddress, peerCheck } from './client-address.ts'
import { isForwardingHeader } from './api-client/headers-for-api.ts'
import { countHeader, malformedError } from './request.ts'
import { END_REASONS } from '../../ports/session-registry.ts'

export interface IdentifyOptions {
  readonly authenticator: Pick<Authenticator, 'authenticate'>
  /** The networks of the peers whose `X-User-*` headers are accepted. */
  readonly trustedProxies: readonly Network[]
  /** Verifies the programs of this installation, which are trusted from every address. */
  readonly signature?: Pick<IdentitySignature, 'verify'>
  /** Where the caller is; the peer by default. */
  readonly clientAddress?: ClientAddress
}

/** The caller; undefined when the request names none. Throws for a token or headers that are not valid. */
export type Identify = (request: IncomingMessage) => Identity | Promise<Identity> | undefined

const IDENTITY_HEADERS = ['x-user-id', 'x-user-name', 'x-user-roles'] as const
const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/
const VISIBLE_NAME = /^[\x21-\x7e]{1,254}$/
const BEARER = /^bearer +([^ ]+)$/i
// docs/specification.md, Gateway: a token is at most 8 KiB
const TOKEN_LIMIT = 8 * 1_024

/**
 * docs/specification.md, Identity: a token wins; headers are accepted with a signature of the installation, and from a
 * trusted peer that is no proxy.
 */
export function createIdentify(options: IdentifyOptions): Identify {
  const { authenticator, trustedProxies, signature, clientAddress = peerAddress } = options
  const isTrusted = peerCheck(trustedProxies)
  return (request) => {
    const fromTrustedPeer = isTrusted(request.socket.remoteAddress)
    if (fromTrustedPeer) requireSingleHeaders(request)
    const { authorization } = request.headers
    if (authorization !== undefined) {
      return authenticator.authenticate(bearerToken(authorization), clientAddress(request))
    }
    if (signature?.verify(request)) return withToken(identityFromHeaders(request.headers), request.headers)
    if (!fromTrustedPeer || isForwarded(request) || !isLocalName(request.headers.host)) return undefined
    return identityFromHeaders(request.headers)
  }
}

/** The caller could not be identified (RFC 6750, section 3). */
export function unauthenticatedError(message: string): AppError {
  return new AppError('unauthenticated', 'unauthenticated', message)
}

/** The token of an `Authorization` header; throws `unauthenticated` for one that carries none. */
export function bearerToken(authorization: string): string {
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined) throw unauthenticatedError(END_REASONS.authorization_malformed)
  if (token.length > TOKEN_LIMIT) throw unauthenticatedError(END_REASONS.token_too_long)
  return token
}

/** Node joins repetitions with a comma, which would add the second one's roles to the first one's. */
function requireSingleHeaders(request: IncomingMessage): void {
  for (const header of IDENTITY_HEADERS) {
    if (request.headers[header]?.includes(',') && countHeader(request, header) > 1)
      throw malformedError(header, 'must occur once')
  }
}

function identityFromHeaders(headers: IncomingHttpHeaders): Identity | undefined {
  const id = headers['x-user-id']
  const roles = headers['x-user-roles']
  const name = headers['x-user-name']
  if (id === undefined) return undefined
  if (typeof id !== 'string' || !VISIBLE_ASCII.test(id))
    throw malformedError('x-user-id', 'must be 1 to 128 visible ASCII characters')
  return {
    id,
    name: typeof name === 'string' && VISIBLE_NAME.test(name) ? name : id,
    roles: knownRoles(typeof roles === 'string' ? roles.split(',').map((role) => role.trim()) : []),
    via: 'headers',
  }
}

/** Only a signature of the installation says with which token the identity came. */
function withToken(identity: Identity | undefined, headers: IncomingHttpHeaders): Identity | undefined {
  const header = headers[TOKEN_HEADER]
  const token = typeof header === 'string' ? decodeIdentityToken(header) : undefined
  return identity && token ? { ...identity, token } : identity
}

/** The peer is a proxy, which may pass on the headers of its clients. */
function isForwarded({ headers }: IncomingMessage): boolean {
  for (const name in headers) if (isForwardingHeader(name)) return true
  return false
}

/** With any other name in `Host`, a web page could reach the platform through its visitor's browser (DNS rebinding). */
function isLocalName(host: string | undefined): boolean {
  if (host === undefined) return false
  const name = host.replace(/:\d*$/, '')
  if (name.startsWith('[') && name.endsWith(']')) return isIP(name.slice(1, -1)) === 6
  return isIP(name) === 4 || name.toLowerCase() === 'localhost'
}
