import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'

/** A request as it goes out: nothing is added but the identity of an admin, and nothing is put right. */
export interface Sent {
  readonly method: string
  readonly path: string
  /** Default: a local tool with the role admin. `{}` sends no header at all. */
  readonly headers?: OutgoingHttpHeaders
  /** Text and bytes as they are; anything else as JSON with its content type. */
  readonly body?: unknown
  /** In pieces, without a Content-Length. */
  readonly chunked?: boolean
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Fails when the text is not JSON. */
  json(): unknown
}

/** What every error says of itself. */
export interface ErrorAnswer {
  readonly code: string
  readonly message: string
  readonly details?: readonly { readonly path: string; readonly message: string }[]
}
