/**
 * The kind of a failure. Each entry point (HTTP, command line, socket) maps the kinds to its own codes in one place.
 * Only `unavailable` means that the same call, unchanged, may succeed later.
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
  | 'range_not_satisfiable'
  | 'rate_limited'
  | 'unavailable'
  | 'internal'

/** One problem of an input: its path (`items.0.title`) and what was expected there. */
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
 * A failure that the caller cannot recover from, with a message for that caller.
 * `code` is one of the error codes of docs/specification.md, HTTP API; `message` is one sentence without secrets. The
 * cause goes only to the log.
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

/** The error for a resource that does not exist: `<resource>_not_found`. */
export function notFound(resource: string, id: string): AppError {
  return new AppError('not_found', `${resource}_not_found`, `There is no ${resource} ${JSON.stringify(id)}.`)
}

/** The error for one field of an input that violates a rule which its schema cannot express. */
export function invalidField(path: string, message: string): AppError {
  return new AppError('invalid', 'validation_failed', `${path}: ${message}`, { details: [{ path, message }] })
}

/** The error for a change of state that is not allowed; the message names the allowed ones. */
export function invalidTransition(message: string): AppError {
  return new AppError('conflict', 'invalid_transition', message)
}

/**
 * Throws `precondition_failed` unless one of the `expected` versions is the current one; undefined allows any version.
 * `subject` is what has a version, in words: `ticket`.
 */
export function requireVersion(
  version: number,
  expected: readonly number[] | undefined,
  subject: string,
): void {
  if (!expected || expected.includes(version)) return
  const message = `The ${subject} has changed; its ETag is "${version}" now.`
  throw new AppError('precondition_failed', 'precondition_failed', message)
}

/** The error for a change while the platform is read-only. */
export function readOnlyError(): AppError {
  return new AppError(
    'unavailable',
    'read_only',
    'The platform is read-only at the moment; nothing was changed.',
  )
}

/** The message of any thrown value, for a log line. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
