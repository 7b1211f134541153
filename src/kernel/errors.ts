/**
 * What kind of failure a caller is told of; each edge (HTTP, command line, socket) maps a kind once.
 * `unavailable` alone says that the same call may succeed later without being changed.
 */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'precondition_failed'
  | 'too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'unavailable'
  | 'internal'

/** One thing that is wrong with an input: where it stands (`items.0.title`) and what was expected there. */
export interface ErrorDetail {
  readonly path: string
  readonly message: string
}

export interface AppErrorOptions {
  readonly cause?: unknown
  readonly details?: readonly ErrorDetail[]
  /** How long a caller should wait before it tries again, in seconds. */
  readonly retryAfterSeconds?: number
}

/**
 * A failure that a caller cannot go on from, in words meant for that caller.
 * `code` is listed in docs/reference/errors.md, `message` one sentence without secrets; the cause stays in the log.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly kind: ErrorKind
  readonly code: string
  readonly details: readonly ErrorDetail[] | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(kind: ErrorKind, code: string, message: string, options: AppErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.kind = kind
    this.code = code
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** The thing of that kind and id does not exist: `<thing>_not_found`. */
export function notFound(thing: string, id: string): AppError {
  return new AppError('not_found', `${thing}_not_found`, `There is no ${thing} ${JSON.stringify(id)}.`)
}

/** One field of an input is wrong in a way that its schema cannot say. */
export function invalidField(path: string, message: string): AppError {
  return new AppError('invalid', 'validation_failed', `${path}: ${message}`, { details: [{ path, message }] })
}

/** The text of anything that was thrown, for a log line. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
