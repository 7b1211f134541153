import type { ApiResult } from '../../api/operations.ts'
import { showToast } from '../toast.tsx'
import { FormDialog, type FormDialogProps } from './form-dialog.tsx'

export interface CreateDialogProps<T> extends Omit<FormDialogProps, 'send'> {
  readonly create: (body: object) => Promise<ApiResult<T>>
  /** The words of the toast when it is created. */
  readonly doneOf: (created: T) => string
  readonly onCreated: (created: T) => void
}

/** A form in front of the page that creates an object. */
export function CreateDialog<T>({ create, doneOf, onCreated, ...form }: CreateDialogProps<T>) {
  const send = async (body: object) => {
    const result = await create(body)
    if (!result.ok) return result.failure
    showToast('good', doneOf(result.value))
    onCreated(result.value)
    return null
  }
  return <FormDialog {...form} send={send} />
}
