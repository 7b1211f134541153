import type { ComponentChildren } from 'preact'
import { Failed, Loading } from '../states.tsx'
import type { ResourceModel } from './resource-model.ts'

export interface ResourceViewProps<T> {
  readonly model: ResourceModel<T>
  readonly children: (value: T) => ComponentChildren
}

/** Shows the object once it is read; until then, or if that fails, the state of the reading. */
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
