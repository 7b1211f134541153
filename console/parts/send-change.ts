import type { ApiResult } from '../api/operations.ts'
import { confirmAction } from './confirm.tsx'
import { reportFailure } from './report-failure.ts'
import { showToast } from './toast.tsx'

/** The words of the button of a change, of the question before the change, and of the toast after it. */
export interface ChangeWords {
  readonly action: string
  readonly title: string
  readonly text: string
  readonly done: string
}

export interface ChangeRequest<T> {
  readonly words: ChangeWords
  readonly isDestructive?: boolean
  readonly send: () => Promise<ApiResult<T>>
  readonly onDone: (value: T) => void
}

/** Sends a change of an object that has no versions, after a question. A toast shows the outcome. */
export async function sendChange<T>(change: ChangeRequest<T>): Promise<void> {
  const { words, isDestructive = false, send, onDone } = change
  const { done, ...question } = words
  if (!(await confirmAction({ ...question, isDestructive }))) return
  const result = await send()
  if (!result.ok) return reportFailure(result.failure)
  showToast('good', done)
  onDone(result.value)
}
