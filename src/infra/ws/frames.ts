import { validateHeaderName, validateHeaderValue } from 'node:http'
import { countMembers, scanJson, spanOfMember, type Span } from '../http/json-scan.ts'
import { staysBelowPrefix } from '../http/request.ts'
import { errorCode } from '../../kernel/errors.ts'

/** What a client may send (docs/specification.md, Gateway). */
export type ClientFrame = HeartbeatAck | RequestFrame | RenewFrame

interface HeartbeatAck {
  readonly type: 'heartbeat_ack'
  readonly seq: number
}

export interface RequestFrame {
  readonly type: 'request'
  /** Chosen by the client; the response or error has it too. */
  readonly id: string | number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON as the client wrote it: parsed and written again it could lose digits, or one of two members. */
  readonly body: string | undefined
}

export interface RenewFrame {
  readonly type: 'renew'
  /** Undefined when it is no text; that is a token that is not valid, and no bad frame. */
  readonly token: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** How each type of frame is read; undefined when a field is missing or not valid. */
const READERS: Readonly<Record<string, (fields: Fields, text: string) => ClientFrame | undefined>> = {
  heartbeat_ack: ({ seq }) =>
    typeof seq === 'number' && Number.isSafeInteger(seq) ? { type: 'heartbeat_ack', seq } : undefined,
  request: readRequest,
  renew: ({ token }) => ({ type: 'renew', token: typeof token === 'string' ? token : undefined }),
}

/** A client's frame; undefined when it is not valid. Further fields are ignored. */
export function readClientFrame(text: string): ClientFrame | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isRecord(value) || typeof value['type'] !== 'string') return undefined
    return Object.hasOwn(READERS, value['type']) ? READERS[value['type']]?.(value, text) : undefined
  } catch {
    // Not JSON, or nested too deeply for its members to be counted.
    return undefined
  }
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const ID_LIMIT = 128
// What a request line may contain, without a fragment.
const PATH = /^\/[\x21\x22\x24-\x7e]*$/

function readRequest(fields: Fields, text: string): RequestFrame | undefined {
  const { id, method, path, headers = {} } = fields
  if (!isId(id) || typeof method !== 'string' || !METHODS.has(method)) return undefined
  if (typeof path !== 'string' || !PATH.test(path) || !staysBelowPrefix(path)) return undefined
  if (!isRecord(headers) || !isHeaders(headers)) return undefined
  const body = fields['body'] === undefined ? undefined : spanOfMember(text, 'body')
  if (namesMemberTwice(fields, text, body)) return undefined
  const content = body === undefined ? {} : { 'content-type': 'application/json' }
  return {
    type: 'request',
    id,
    method,
    path,
    headers: { ...content, ...lowerCaseNames(headers) },
    body: body && text.slice(body.start, body.end).trim(),
  }
}

/** Outside its body, which the api judges. */
function namesMemberTwice(fields: Fields, text: string, body: Span | undefined): boolean {
  if (!body) return scanJson(text).members > countMembers(fields)
  const withoutBody = `${text.slice(0, body.start)}0${text.slice(body.end)}`
  return scanJson(withoutBody).members > countMembers({ ...fields, body: 0 })
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' ? id.length <= ID_LIMIT : Number.isSafeInteger(id)
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isHeaders(headers: Fields): headers is Readonly<Record<string, string>> {
  return Object.entries(headers).every(
    ([name, value]) => typeof value === 'string' && isWellFormed(name, value),
  )
}

function isWellFormed(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

/** In lower case, so that each name occurs once; a session has no cookies. */
function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(entries.filter(([name]) => name !== 'cookie'))
}

/** What the gateway may send (docs/specification.md, Gateway). Times are RFC 3339. */
export type ServerFrame =
  | {
      readonly type: 'session'
      readonly session_id: string
      readonly virtual_ip: string
      readonly prefix_length: number
      readonly heartbeat_seconds: number
      readonly gateway: string
      readonly user: { readonly id: string; readonly name: string; readonly roles: readonly string[] }
    }
  | { readonly type: 'expiring' | 'renewed'; readonly at: string }
  | ErrorFrame

export interface ErrorFrame {
  readonly type: 'error'
  /** Id of the request that failed, if the error is about one. */
  readonly id?: string | number
  readonly code: string
  readonly message: string
}

/** Without `JSON.stringify`: thousands are sent in every interval. */
export function heartbeatText(seq: number, at: string): string {
  return `{"type":"heartbeat","seq":${seq},"at":"${at}"}`
}

export interface ResponseParts {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** A response frame; its body is the JSON value, or a string when the answer is not JSON. */
export function responseText(id: string | number, { status, headers, text }: ResponseParts): string {
  const start = JSON.stringify({ type: 'response', id, status, headers }).slice(0, -1)
  return `${start},"body":${isJson(headers['content-type'], text) ? text : JSON.stringify(text)}}`
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i

function isJson(contentType: string | undefined, text: string): boolean {
  if (contentType === undefined || !JSON_TYPE.test(contentType)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Why the gateway ends a session (docs/specification.md, Gateway). */
export const CLOSE = {
  goingAway: 1001,
  /** Never sent: the connection closed without a close frame (RFC 6455, section 7.1.5). */
  lost: 1006,
  badFrame: 4400,
  tokenOver: 4401,
  noHeartbeat: 4408,
  slowReader: 4429,
} as const

/** The close code that the WebSocket library sends by itself, by the code of its error; for others 1002. */
const LIBRARY_ERRORS: Readonly<Record<string, number>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
}
const PROTOCOL_ERROR = 1002

export function closeCodeOf(error: Error): number {
  return LIBRARY_ERRORS[errorCode(error) ?? ''] ?? PROTOCOL_ERROR
}
