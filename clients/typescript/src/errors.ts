/** What is wrong with one field of a request. `path` is dotted: `items.0.title`. */
export interface FieldFault {
  readonly path: string
  /** What is wrong, for programs; docs/reference/errors.md lists the codes. */
  readonly code: string
  readonly message: string
  /** What the message says, by the name of the value. */
  readonly values?: Readonly<Record<string, string | number | readonly string[]>>
}

export interface PlatformErrorParts {
  readonly operation: string
  readonly code: string
  readonly message: string
  readonly requestId: string
  /** How often the request was sent. */
  readonly attempts: number
  readonly status?: number
  readonly details?: readonly FieldFault[]
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

/** A call that failed. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError'
  /** The name of the operation: `createOrder`. */
  readonly operation: string
  /**
   * The code of the API (`order_exists`), or `status_502` for an error that is not the platform's, or one of the client:
   * `unreachable`, `timeout`, `invalid_response`, and `not_modified` for the answer 304 to an `If-None-Match`.
   */
  readonly code: string
  /** Status of the response; 0 without one. */
  readonly status: number
  /** The `X-Request-Id`; the log of the platform names it. */
  readonly requestId: string
  readonly details: readonly FieldFault[]
  /** From the header `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /**
   * How often the request was sent. After more than one attempt an error may be caused by an earlier one whose response
   * was lost: 404 for a second DELETE, 412 for a second `If-Match`.
   */
  readonly attempts: number

  constructor(parts: PlatformErrorParts) {
    super(parts.message, parts.cause === undefined ? {} : { cause: parts.cause })
    this.operation = parts.operation
    this.code = parts.code
    this.status = parts.status ?? 0
    this.requestId = parts.requestId
    this.details = parts.details ?? []
    this.retryAfterSeconds = parts.retryAfterSeconds
    this.attempts = parts.attempts
  }
}

/** Codes of the client: the platform gave no answer that could be read. */
const LOST_ANSWERS = ['unreachable', 'timeout', 'invalid_response']

const TRANSIENT_STATUSES = [408, 429, 500, 502, 503, 504]

/** Whether the same request may succeed later. */
export function isTransient({ code, status }: PlatformError): boolean {
  return LOST_ANSWERS.includes(code) || TRANSIENT_STATUSES.includes(status)
}
