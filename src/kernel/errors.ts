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

interface AppErrorOptions {
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

/** The resource; throws `<resource>_not_found` where there is none. */
export function requireFound<T>(found: T | undefined, resource: string, id: string): T {
  if (found === undefined) throw notFound(resource, id)
  return found
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

/**
 * Throws `invalid_transition` for a move that the table of moves does not have: its values are the current status and the
 * allowed ones. `subject` is what moves, in words: `An order`.
 */
export function requireMove<Status extends string, Next extends Status>(
  subject: string,
  moves: Readonly<Record<Status, readonly Next[]>>,
  from: Status,
  to: Status,
): asserts to is Next {
  const next: readonly Status[] = moves[from]
  if (!next.includes(to)) throw invalidMove(subject, from, to, next)
}

/** The error for a move that is not allowed; see {@link requireMove}. */
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

/** The code of an error of the system or of a library, such as `ENOENT`; undefined without one. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** What a sentence says, for programs: by the name of the value. */
export type ErrorValues = Readonly<Record<string, string | number | readonly string[]>>

/** Why something is as it is, beside its sentence, for programs: a stable code, and values by their names. */
export interface SentenceCause<Code extends string = string> {
  readonly code: Code
  readonly values: ErrorValues
}

/**
 * What can be wrong with a field, by its code: a sentence that follows the name of the field. `{name}` stands for a value.
 * Codes and names of values are stable (docs/specification.md, HTTP API); sentences are for people and may change.
 */
export const FAULTS = {
  /** Not described further: a rule of a schema that is none of the others. */
  invalid: '{reason}',
  required: 'is required',
  reason_required: 'is required, because another person decides',
  old_password_required: 'is required to change your own password',
  level_required: 'is required where no weight is given',
  unknown_field: 'is not a known field',
  unknown_parameter: 'is not a known parameter',
  repeated_parameter: 'may occur only once',
  unknown_command: 'is not a known command',
  unknown_event: 'no event has the subject "{subject}"',
  left_out: 'must be left out',
  left_out_with: 'must be left out beside {field}',
  left_out_without: 'must be left out without {field}',
  required_one_of: 'is required, or {field}',
  left_out_with_items: 'must be left out when there are items',
  needed_without_items: 'must be there unless there are items',
  wrong_type: 'must be {expected}',
  wrong_form: 'must match {pattern}',
  /** The pattern of a parameter, which its declaration names for people. */
  not_matching: 'must match {pattern}',
  not_in_list: 'must be one of {allowed}',
  none_of_list: 'must be one or more of {allowed}',
  not_a_time: 'must be a time in RFC 3339, such as 2026-01-31T02:00:00Z',
  not_a_name: 'must be 1 to 254 of A-Z a-z 0-9 . _ @ + -, and not "." or ".."',
  not_a_schedule:
    'must be five cron fields whose time comes: minute, hour, day of the month, month, day of the week',
  not_a_time_zone: 'must be a time zone such as Europe/Berlin',
  not_an_id: 'must be 1 to {maximum} of {characters}, and not "." or ".."',
  not_an_agent_id: 'must be 1 to 64 of A-Z a-z 0-9 _ -',
  not_ids: 'must be 1 to {maximum} ids of users, separated by commas',
  not_a_subject:
    'must be one subject: parts separated by dots, without spaces, control characters, "*" and ">", and not beginning with "$"',
  not_subjects:
    'must be subjects separated by commas, each exact (order.paid) or a prefix that ends in * (order.*)',
  not_a_header_name: 'must be named with 1 to 64 of A-Z a-z 0-9 _ -, and not begin with "Nats-"',
  not_a_header_value: 'must have only visible characters of ASCII, spaces and tabs',
  not_a_menu_path: 'must begin with "/", and not contain NUL or half a surrogate pair',
  not_a_user: 'must be the id of a user',
  not_a_path: 'must be a path on this host, at most 1024 characters, without a fragment',
  not_text: 'must not contain NUL or half a surrogate pair',
  not_exact: 'must be an integer up to 2^53 - 1, or a number below 1.8e308',
  not_unique: 'must not have the same item twice',
  not_an_integer: 'must be an integer',
  out_of_range: 'must be an integer from {minimum} to {maximum}',
  too_short: 'must have at least {minimum} characters',
  too_long: 'must have at most {maximum} characters',
  too_many_bytes: 'must not have more than {maximum} of UTF-8',
  too_many_bytes_together: 'must have at most {maximum} together',
  too_few_items: 'must have at least {minimum} items',
  too_many_items: 'must have at most {maximum} items',
  too_few_fields: 'must have at least {minimum} fields',
  too_many_fields: 'must have at most {maximum} fields',
  too_small: 'must be >= {minimum}',
  too_large: 'must be <= {maximum}',
  too_deep: 'must not be nested deeper than {maximum} levels',
  not_in_future: 'must be in the future',
  not_after: 'must be later than {field}',
  too_far_after: 'must be at most {maximum} after {field}',
  same_as: 'must not be the same as {field}',
  never_between: 'never comes between {from} and {to}',
  other_cursor: 'is the next_cursor of another list',
  unknown_cursor: 'must be the next_cursor of an earlier page of the same order',
  repetitive_password: 'must have at least {minimum} different characters',
  user_name_password: 'must not be the name of the user, even with digits and signs added',
  common_password: 'is a common password, or one with digits and signs added',
  secret_variable: 'contains a variable that stands for a secret',
  private_key: 'must not contain a private key',
  pem_without_block: 'The PEM has no block that begins with -----BEGIN CERTIFICATE-----.',
  pem_with_many_blocks: 'The PEM has {blocks} blocks; at most {maximum} are allowed.',
  pem_block: 'Block {block} of the PEM {reason}.',
  menu_duplicate_id: 'names "{id}" again',
  menu_two_parents: 'is nested in "{outer}" and has the parent_id {parent}',
  menu_unknown_parent: 'has the unknown parent "{parent}"',
  menu_deleted_parent: 'has the parent "{parent}", which is not named and would be deleted',
  menu_cycle: 'would be below itself: {loop}',
  menu_too_deep: 'puts "{id}" below level {maximum}, the last one of a menu',
  menu_too_many: 'is one more than the {maximum} nodes of a menu',
  menu_too_much_text: 'lead to menus with more than {maximum} of text in JSON',
} as const

export type FaultCode = keyof typeof FAULTS

/** One problem of an input: its path (`items.0.title`) and what was expected there, for programs and for people. */
export interface ErrorDetail {
  readonly path: string
  readonly code: FaultCode
  readonly message: string
  readonly values?: ErrorValues
}

/** The fault of a field; the sentence is that of {@link FAULTS} with the values in it. */
export function fieldFault(path: string, code: FaultCode, values?: ErrorValues): ErrorDetail {
  return { path, code, message: sentenceWith(FAULTS[code], values), ...(values && { values }) }
}

/** The sentence with the values in it; `{name}` without a value stays as it is. */
export function sentenceWith(sentence: string, values: ErrorValues = {}): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (place, name: string) => valueText(values[name] ?? place))
}

function valueText(value: ErrorValues[string]): string {
  return Array.isArray(value) ? value.join(', ') : String(value)
}
