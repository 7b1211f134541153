import { DatabaseError } from 'pg'
import { storeUnavailable, TransactionTimedOut } from '../unavailable.ts'
import { errorCode } from '../../kernel/errors.ts'

// https://www.postgresql.org/docs/15/errcodes-appendix.html
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'
const READ_ONLY_TRANSACTION = '25006'
const IDLE_IN_TRANSACTION_TIMEOUT = '25P03'
const LOCK_NOT_AVAILABLE = '55P03'
const UNIQUE_VIOLATION = '23505'

const FEATURE_NOT_SUPPORTED = '0A000'
const STALE_PLAN = /cached plan must not change result type/

const RETRYABLE = new Set([SERIALIZATION_FAILURE, DEADLOCK_DETECTED])
// A standby answers 25006 to a change.
const UNAVAILABLE = new Set([READ_ONLY_TRANSACTION])
const TIMED_OUT = new Set([IDLE_IN_TRANSACTION_TIMEOUT, LOCK_NOT_AVAILABLE])
// Connection exception, invalid authorization, no such database, insufficient resources, operator intervention,
// system error.
const UNAVAILABLE_CLASSES = new Set(['08', '28', '3D', '53', '57', '58'])

// The server stops or starts: admin_shutdown, crash_shutdown, cannot_connect_now.
const NOT_IN_SERVICE = new Set(['57P01', '57P02', '57P03'])

// Errors of the driver that have no code.
const UNCODED =
  /connection terminated|timeout exceeded when trying to connect|is not queryable|client was closed/i

// What PgBouncer answers to the limits of a connection, and what a server behind it answers to a name that was prepared
// on another of its connections.
const PROTOCOL_VIOLATION = '08P01'
const STATEMENT_NAMES = new Set(['26000', '42P05'])

/** Whether the transaction succeeds when it is repeated: it lost against a concurrent one, or had a plan that is stale. */
export function isRetryable(error: unknown): boolean {
  return (error instanceof DatabaseError && RETRYABLE.has(error.code ?? '')) || isStalePlan(error)
}

/** Whether the server takes no changes: it has become a standby, or was always one. */
export function isReadOnlyRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === READ_ONLY_TRANSACTION
}

/** Whether two rows have the same value where each has its own. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === UNIQUE_VIOLATION
}

/** Whether a prepared statement does not fit its tables any more: another release has changed the type of a column. */
export function isStalePlan(error: unknown): boolean {
  return (
    error instanceof DatabaseError && error.code === FEATURE_NOT_SUPPORTED && STALE_PLAN.test(error.message)
  )
}

/** Whether another server may be the one to use after this error. */
export function raisesDoubt(error: unknown): boolean {
  return isReadOnlyRefusal(error) || endsConnection(error)
}

/** Whether the server closes the connection after this error. */
export function endsConnection(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && NOT_IN_SERVICE.has(error.code ?? '')
}

/** The error of a query as callers get it: `store_unavailable` when the server cannot be used or a wait took too long, else as it is. */
export function fromPostgresError(error: unknown): unknown {
  if (error instanceof DatabaseError && TIMED_OUT.has(error.code ?? ''))
    return new TransactionTimedOut(
      'The change was undone, because it waited too long for another one; try again.',
      error,
    )
  const explained = explainPooler(error)
  return explained !== error || isUnavailable(error) ? storeUnavailable(explained) : error
}

/** The error of a pooler with what to do about it; another error as it is. */
export function explainPooler(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error
  const refusesLimits =
    error.code === PROTOCOL_VIOLATION && /unsupported startup parameter/.test(error.message)
  if (!refusesLimits && !STATEMENT_NAMES.has(error.code ?? '')) return error
  const remedy = 'the address leads to PgBouncer; add the parameter pgbouncer=true to database.url'
  return new Error(`${error.message}: ${remedy}`, { cause: error })
}

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = errorCode(error) ?? ''
  if (error instanceof DatabaseError)
    return UNAVAILABLE.has(code) || UNAVAILABLE_CLASSES.has(code.slice(0, 2))
  // With a code, an error that is not the server's is the system's or TLS's: the network, name resolution, a certificate.
  return (code !== '' && !(error instanceof TypeError)) || UNCODED.test(error.message)
}
