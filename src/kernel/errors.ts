import { fieldFault, type ErrorDetail, type ErrorValues, type FaultCode } from './faults.ts'

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

/** What is wrong with the token of a call; `invalid` says nothing to the sender of a forged one. */
export type TokenFault = 'invalid' | 'expired' | 'revoked'

export interface AppErrorOptions {
  readonly cause?: unknown
  readonly details?: readonly ErrorDetail[]
  /** What the message says, for programs: by the name of the value. */
  readonly values?: ErrorValues
  /** How long a caller should wait before it tries again, in seconds. */
  readonly retryAfterSeconds?: number
  /** What is wrong with the token of the call. */
  readonly tokenFault?: TokenFault
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
  readonly values: ErrorValues | undefined
  readonly retryAfterSeconds: number | undefined
  readonly tokenFault: TokenFault | undefined

  constructor(kind: ErrorKind, code: string, message: string, options: AppErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.kind = kind
    this.code = code
    this.details = options.details
    this.values = options.values
    this.retryAfterSeconds = options.retryAfterSeconds
    this.tokenFault = options.tokenFault
  }
}

/** The error for a resource that does not exist: `<resource>_not_found`. */
export function notFound(resource: string, id: string): AppError {
  return new AppError('not_found', `${resource}_not_found`, `There is no ${resource} ${JSON.stringify(id)}.`)
}

/** The error for one field of an input that violates a rule which its schema cannot express. */
export function invalidField(path: string, code: FaultCode, values?: ErrorValues): AppError {
  const detail = fieldFault(path, code, values)
  return new AppError('invalid', 'validation_failed', `${path}: ${detail.message}`, { details: [detail] })
}

/** The error of an input with faults; the first one is its message, after `subject` where it is not about a field. */
export function validationFailed(details: readonly ErrorDetail[], subject = 'The body'): AppError {
  const [first] = details
  const message = first
    ? `${first.path === '' ? subject : first.path} ${first.message}.`
    : `${subject} is not valid.`
  return new AppError('invalid', 'validation_failed', message, { details })
}

/** The error for a change of state that is not allowed. Its values are the current status and the allowed ones. */
export function invalidTransition(message: string, status: string, allowed: readonly string[]): AppError {
  return new AppError('conflict', 'invalid_transition', message, { values: { status, allowed } })
}

/** The error for a move that the table of moves does not have. `subject`: `An order`. */
export function invalidMove(subject: string, from: string, to: string, moves: readonly string[]): AppError {
  const allowed = moves.length > 0 ? `allowed: ${moves.join(', ')}` : 'it is final'
  return invalidTransition(`${subject} that is ${from} cannot become ${to}; ${allowed}.`, from, moves)
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
  const etag = `"${version}"`
  const message = `The ${subject} has changed; its ETag is ${etag} now.`
  throw new AppError('precondition_failed', 'precondition_failed', message, { values: { etag } })
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
