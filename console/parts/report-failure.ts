import type { ApiFailure } from '../api/operations.ts'
import { describeFailure } from './failure-words.ts'
import { showToast } from './toast.tsx'

/** Whether a call failed because the session has ended: the form for a new sign-in covers the page then. */
export function isSessionEnd({ status }: ApiFailure): boolean {
  return status === 401
}

/** Says why something was not done. */
export function reportFailure(failure: ApiFailure): void {
  if (!isSessionEnd(failure)) showToast('warning', describeFailure(failure))
}
