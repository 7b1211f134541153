import type { ApiFailure, FieldFault } from '../../api/operations.ts'

/** A refusal before anything is sent, in the form of one of the API. */
export function invalidFields(details: readonly FieldFault[]): ApiFailure {
  const message = details[0]?.message ?? ''
  return { status: 400, code: 'validation_failed', message, details, retryAfterSeconds: null }
}
