import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { AppError } from '../../kernel/errors.ts'
import type { TokenHolder } from '../../ports/authentication.ts'
import { malformedError } from '../http/request.ts'
import { bearerToken, unauthenticatedError } from '../http/identity.ts'
import { END_REASONS } from '../../ports/session-registry.ts'

/** The path of the sessions (docs/specification.md, Gateway). */
export const SESSION_PATH = '/vpn'
/** The only subprotocol; a browser offers it together with its token. */
export const SUBPROTOCOL = 'platform.vpn.v1'

const TOKEN_PROTOCOL = 'bearer.'
const KEY = /^[+/0-9A-Za-z]{22}==$/
const VERSION = '13'
const PROTOCOL_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const DEVICE = /^[A-Za-z0-9._-]{1,64}$/

/** Throws when the request cannot become a WebSocket (RFC 6455, section 4.2.1), before anything is registered for it. */
export function requireWebSocket({ method, headers }: IncomingMessage): void {
  if (method !== 'GET') throw malformedError('the method', 'must be GET')
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    throw malformedError('Sec-WebSocket-Key', 'must be 16 bytes in base64')
  if (headers['sec-websocket-version'] !== VERSION)
    throw malformedError('Sec-WebSocket-Version', `must be ${VERSION}`)
  const offered = offeredProtocols(headers)
  if (new Set(offered).size < offered.length || !offered.every((name) => PROTOCOL_NAME.test(name))) {
    throw malformedError('Sec-WebSocket-Protocol', 'must be a list of different names')
  }
}

/** A browser sends the origin of the page; pages of other sites may not open sessions. Other clients send none. */
export function requireOwnOrigin({ headers: { origin, host } }: IncomingMessage): void {
  if (origin === undefined || URL.parse(origin)?.host === host?.toLowerCase()) return
  throw new AppError('forbidden', 'forbidden', 'Pages of another origin may not connect to this gateway.')
}

/** The token of the header or, for a browser, of the subprotocols. Throws `unauthenticated` when there is none. */
export function tokenOf(headers: IncomingHttpHeaders): string {
  if (headers.authorization !== undefined) return bearerToken(headers.authorization)
  const offered = offeredProtocols(headers)
  const tokens = offered.filter((name) => name.startsWith(TOKEN_PROTOCOL))
  const [token] = tokens
  if (token === undefined || tokens.length > 1 || !offered.includes(SUBPROTOCOL)) {
    throw unauthenticatedError(
      `A session needs a Bearer token, or the subprotocols ${SUBPROTOCOL} and ${TOKEN_PROTOCOL}….`,
    )
  }
  return bearerToken(`Bearer ${token.slice(TOKEN_PROTOCOL.length)}`)
}

/** Throws `unauthenticated` for a user without any role: a session would be of no use (docs/specification.md, Gateway). */
export function requireRole({ identity }: TokenHolder): void {
  if (identity.purpose !== undefined)
    throw unauthenticatedError(`The token was issued for the purpose ${identity.purpose}, not for a session.`)
  if (identity.roles.length === 0) throw unauthenticatedError(END_REASONS.no_role)
}

/** The device that the query names. Throws `validation_failed` for a name that is not valid. */
export function deviceOf(url: string): string | undefined {
  const device = findDevice(url)
  if (device === undefined && deviceNames(url).length > 0)
    throw malformedError('device', 'must occur once, as 1 to 64 of A-Z a-z 0-9 . _ -')
  return device
}

/** The device that the query names; undefined when it names none, or not a valid one. */
export function findDevice(url: string): string | undefined {
  const [name, ...others] = deviceNames(url)
  return name !== undefined && others.length === 0 && DEVICE.test(name) ? name : undefined
}

function deviceNames(url: string): string[] {
  return new URLSearchParams(url.split('?').slice(1).join('?')).getAll('device')
}

function offeredProtocols({ 'sec-websocket-protocol': offered }: IncomingHttpHeaders): string[] {
  return offered === undefined ? [] : offered.split(',').map((name) => name.trim())
}
