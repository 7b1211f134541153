import { errorMessage } from '../../../src/kernel/errors.ts'
import { singleLine } from '../alerts/variables.ts'
import { BackupError, type ErrorCode } from '../errors.ts'
import type { RunFailure } from './state.ts'
import { isDiskFull, isSystemError } from '../../files/system-error.ts'

const MAX_MESSAGE = 1_000

interface FailedStep {
  readonly name: string
  readonly errorCode: ErrorCode
}

/** What an error of a step means. An error without a code of its own is one of the file system, or a defect. */
export function toFailure(
  error: unknown,
  { name, errorCode }: FailedStep,
  { at, isAborted }: { readonly at: number; readonly isAborted: boolean },
): RunFailure {
  // What a program such as pg_dump printed may have lines.
  const message = singleLine(errorMessage(error), MAX_MESSAGE)
  const failure = (code: ErrorCode, text = message): RunFailure => ({
    errorCode: code,
    message: text,
    job: name,
    at,
  })
  if (isAborted) return failure('interrupted', `The run was ended by a signal during the step ${name}.`)
  if (error instanceof BackupError) return failure(error.errorCode)
  if (isDiskFull(error)) return failure('no_space')
  return failure(isSystemError(error) ? errorCode : 'internal')
}
