import type { ApiResult } from '../../api/operations.ts'
import { FormDialog, type FormDialogProps } from '../form/form-dialog.tsx'
import { reportFailure } from '../report-failure.ts'
import { isImpossible, type ChangeActions } from './use-change.tsx'

export interface ChangeDialogProps<T> extends Omit<FormDialogProps, 'send'> {
  readonly apply: ChangeActions<T>['apply']
  readonly request: (body: object) => Promise<ApiResult<T>>
  /** The words of the toast when it is done. */
  readonly done: string
}

/** A form in front of the page that changes the object that is shown. */
export function ChangeDialog<T>({ apply, request, done, onClose, ...form }: ChangeDialogProps<T>) {
  const send = async (body: object) => {
    const failure = await apply({ send: () => request(body), done })
    if (failure && isImpossible(failure)) reportFailure(failure)
    else if (failure) return failure
    onClose()
    return null
  }
  return <FormDialog {...form} send={send} onClose={onClose} />
}
