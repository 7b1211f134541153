import type { ApiFailure } from '../../api/operations.ts'

/** A fault that the console has found, in the language of the reader. */
export interface OwnFault {
  readonly path: string
  readonly message: string
}

/** A failure in the form of the API's, for faults that the console finds before it sends anything. */
export function invalidFields(faults: readonly OwnFault[]): ApiFailure {
  const message = faults[0]?.message ?? ''
  const details = faults.map((fault) => ({ ...fault, code: 'console' }))
  return { status: 400, code: 'validation_failed', message, details, retryAfterSeconds: null }
}
