import type { ComponentChildren } from 'preact'
import { Failed, Loading } from '../states.tsx'
import type { ResourceModel } from './resource-model.ts'

export interface ResourceViewProps<T> {
  readonly model: ResourceModel<T>
  readonly children: (value: T) => ComponentChildren
}

/** The object once it is there; before, and when it cannot be read, what is the matter. */
export function ResourceView<T>({ model, children }: ResourceViewProps<T>) {
  const value = model.value.value
  const failure = model.failure.value
  return (
    <>
      {failure && <Failed failure={failure} onRetry={() => void model.refresh()} />}
      {value === null ? !failure && <Loading /> : children(value)}
    </>
  )
}
