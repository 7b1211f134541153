import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { ApiFailure, ApiResult } from '../../api/operations.ts'
import { Conflict, isSame, type ConflictField } from '../conflict.tsx'
import { useListRefresh } from '../list/list-refresh.ts'
import { partWords } from '../part-words.ts'
import { reportFailure } from '../report-failure.ts'
import { showToast } from '../toast.tsx'
import type { ResourceModel } from './resource-model.ts'

export interface Change<T> {
  /** Sends the change for this version. */
  readonly send: (etag: string | null) => Promise<ApiResult<T>>
  /** What is said when it is done. */
  readonly done: string
  /** The fields in which the change differs from the current version; for an operation that takes `If-Match`. */
  readonly compare?: (current: T) => readonly ConflictField[]
  /** Whether the current version has what the user saw where the change changes it: then the change is sent again. */
  readonly fits?: (current: T) => boolean
}

interface PendingConflict<T> {
  readonly change: Change<T>
  readonly fields: readonly ConflictField[]
}

export interface Changing<T> {
  /**
   * Changes the version with this `ETag`, or without one that which is shown: a form passes that with which it was opened.
   * Returns why the change was refused; null if it is done, or if the user decides about a conflict.
   */
  readonly apply: (change: Change<T>, etag?: string | null) => Promise<ApiFailure | null>
  /** Does the same, and shows a refusal as a toast. */
  readonly applyAndReport: (change: Change<T>) => Promise<void>
  /** To be drawn with the object. */
  readonly conflict: ComponentChildren
}

/** Changes an object in the version that the user sees. If it is another one by now, the user compares and decides. */
export function useChange<T>(model: ResourceModel<T>): Changing<T> {
  const pending = useSignal<PendingConflict<T> | null>(null)
  const refreshList = useListRefresh()
  const apply = async (change: Change<T>, etag = model.etag): Promise<ApiFailure | null> => {
    const result = await change.send(etag)
    if (result.ok) {
      model.show(result)
      refreshList()
      showToast('good', change.done)
      return null
    }
    if (result.failure.status !== 412 || !change.compare) return result.failure
    await model.refresh()
    const current = model.value.peek()
    if (current === null) return null
    if (change.fits?.(current)) return apply(change)
    const fields = change.compare(current)
    if (isSame(fields)) showToast('good', partWords().alreadySo)
    else pending.value = { change, fields }
    return null
  }
  const applyAndReport = async (change: Change<T>) => {
    const failure = await apply(change)
    if (failure) reportFailure(failure)
  }
  const applyAnyway = (change: Change<T>) => {
    pending.value = null
    return applyAndReport(change)
  }
  const shown = pending.value
  return {
    apply,
    applyAndReport,
    conflict: shown && (
      <Conflict
        fields={shown.fields}
        onKeep={() => (pending.value = null)}
        onApply={() => void applyAnyway(shown.change)}
      />
    ),
  }
}
