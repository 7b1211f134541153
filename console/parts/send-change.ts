import type { ApiResult } from '../api/operations.ts'
import { confirmAction, type Question } from './confirm.tsx'
import { reportFailure } from './report-failure.ts'
import { showToast } from './toast.tsx'

export interface SentChange<T> {
  /** Asked before. */
  readonly question?: Question
  readonly send: () => Promise<ApiResult<T>>
  /** The words of the toast when it is done. */
  readonly done: string
  readonly onDone: (value: T) => void
}

/** Sends a change of an object that has no versions, after the question if there is one. A toast shows the outcome. */
export async function sendChange<T>({ question, send, done, onDone }: SentChange<T>): Promise<void> {
  if (question && !(await confirmAction(question))) return
  const result = await send()
  if (!result.ok) return reportFailure(result.failure)
  showToast('good', done)
  onDone(result.value)
}
