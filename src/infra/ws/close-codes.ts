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
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return LIBRARY_ERRORS[code] ?? PROTOCOL_ERROR
}
