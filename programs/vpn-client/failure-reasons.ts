import { jsonMembersOf } from '../../src/kernel/text.ts'

const MAX_QUOTE_CHARACTERS = 200

/** Why a gateway could not be reached; the same text for the same failure, so that repetitions are recognized. */
export function networkFailure(error: unknown): string {
  // A host name with several addresses gives one error for all, without a message.
  if (error instanceof Error && 'code' in error) return `not reached (${String(error.code)})`
  return `no gateway answers there (${error instanceof Error ? error.message : String(error)})`
}

/** Why a gateway refused to open a session. */
export function refusalText(status: number, body: string): string {
  if (status >= 300 && status < 400) return `refused with ${status}: redirections are not followed`
  const { message } = jsonMembersOf(body)
  return typeof message === 'string'
    ? `refused with ${status}: ${message.slice(0, MAX_QUOTE_CHARACTERS)}`
    : `refused with ${status}`
}

/** What the close codes mean (docs/specification.md, Gateway; RFC 6455, section 7.4.1), for a gateway that gives no reason. */
const CLOSE_CODES: Readonly<Record<number, string>> = {
  1000: 'the gateway closed the session',
  1001: 'the gateway is going away',
  1005: 'the gateway closed the session',
  1006: 'the connection broke',
  1009: 'a frame was too large',
  4400: 'a frame could not be read',
  4401: 'the token expired or was revoked',
  4403: 'disconnected by an operator',
  4408: 'heartbeats were not answered in time',
  4409: 'another connection of the same device has taken over',
  4429: 'the client did not read fast enough',
}

export function closeReason(code: number, reason: string): string {
  const meaning = CLOSE_CODES[code] ?? 'the gateway closed the session'
  // 1005 and 1006 are never sent; they stand for the absence of a code.
  if (code === 1005 || code === 1006) return meaning
  return reason === '' || reason === meaning ? `${meaning} (${code})` : `${meaning} (${code}: ${reason})`
}
