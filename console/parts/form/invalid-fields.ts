import type { ApiFailure } from '../../api/operations.ts'

/** A fault that the console has found, in the language of the reader. */
export interface OwnFault {
  readonly path: string
  readonly message: string
}

/** A refusal before anything is sent, in the form of one of the API. */
export function invalidFields(faults: readonly OwnFault[]): ApiFailure {
  const message = faults[0]?.message ?? ''
  const details = faults.map((fault) => ({ ...fault, code: 'console' }))
  return { status: 400, code: 'validation_failed', message, details, retryAfterSeconds: null }
}
