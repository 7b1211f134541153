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
  /** Whether the current version still has the values that the change replaces: then the change is sent again. */
  readonly fits?: (current: T) => boolean
  /** Whether the current version still allows the change; always, if it is left out. */
  readonly isPossible?: (current: T) => boolean
}

const IMPOSSIBLE = ['invalid_transition', 'no_longer_allowed']

/** Whether the state of the object forbids the change, so that no other input would help. */
export function isImpossible(failure: ApiFailure): boolean {
  return IMPOSSIBLE.includes(failure.code)
}

type Decision = 'apply' | 'keep' | 'none'

interface PendingConflict {
  readonly fields: readonly ConflictField[]
  readonly isPossible: boolean
  readonly decide: (decision: Decision) => void
}

export interface ChangeActions<T> {
  /**
   * Changes the version with this `ETag`; by default the one that is shown. A form passes the one with which it was opened.
   * Returns why the change was refused, also if the user closes the conflict without a decision; null if it is done, or if
   * the user keeps the other version.
   */
  readonly apply: (change: Change<T>, etag?: string | null) => Promise<ApiFailure | null>
  /** Does the same as `apply`, and shows a refusal as a toast. */
  readonly applyAndReport: (change: Change<T>) => Promise<void>
  /** The dialog of an open conflict, to be drawn with the object. */
  readonly conflict: ComponentChildren
}

/** Changes an object in the version that the user sees. If it is another one by now, the user compares and decides. */
export function useChange<T>(model: ResourceModel<T>): ChangeActions<T> {
  const pending = useSignal<PendingConflict | null>(null)
  const refreshList = useListRefresh()
  const ask = async (fields: readonly ConflictField[], isPossible: boolean): Promise<Decision> => {
    const { promise, resolve: decide } = Promise.withResolvers<Decision>()
    pending.value = { fields, isPossible, decide }
    const decision = await promise
    pending.value = null
    return decision
  }
  const apply = async (change: Change<T>, etag = model.etag): Promise<ApiFailure | null> => {
    const result = await change.send(etag)
    if (result.ok) {
      model.show(result)
      refreshList()
      showToast('good', change.done)
      return null
    }
    // The object has another state than the shown one.
    if (isImpossible(result.failure)) {
      await model.refresh()
      refreshList()
    }
    const { compare, fits = () => false, isPossible = () => true } = change
    if (result.failure.status !== 412 || !compare) return result.failure
    await model.refresh()
    // Without the current version nothing can be compared.
    const unread = model.failure.peek()
    if (unread) return unread
    const current = model.value.peek()
    if (current === null) return null
    if (fits(current)) return apply(change)
    const fields = compare(current)
    if (isSame(fields)) {
      showToast('good', partWords().alreadySo)
      return null
    }
    const decision = await ask(fields, isPossible(current))
    if (decision === 'apply') return apply(change)
    return decision === 'keep' ? null : result.failure
  }
  const applyAndReport = async (change: Change<T>) => {
    const failure = await apply(change)
    // The user has already seen the conflict.
    if (failure && !(failure.status === 412 && change.compare)) reportFailure(failure)
  }
  const openConflict = pending.value
  return {
    apply,
    applyAndReport,
    conflict: openConflict && (
      <Conflict
        fields={openConflict.fields}
        onKeep={() => openConflict.decide('keep')}
        onApply={openConflict.isPossible ? () => openConflict.decide('apply') : undefined}
        onClose={() => openConflict.decide('none')}
      />
    ),
  }
}
