import type { ComponentChildren } from 'preact'
import { Drawer } from '../drawer.tsx'
import type { ResourceModel } from './resource-model.ts'
import { ResourceView } from './resource-view.tsx'

export interface ResourceDrawerProps<T> {
  readonly id: string
  readonly model: ResourceModel<T>
  /** The title of the object; without one, and until the object is read, the id is shown. */
  readonly titleOf?: (value: T) => string
  /** Shown below the failure when there is no such object. */
  readonly missing?: ComponentChildren
  readonly onClose: () => void
  readonly children: (value: T) => ComponentChildren
}

const NOT_FOUND = 404

/** One object beside its list, which is read by its id. */
export function ResourceDrawer<T>({
  id,
  model,
  titleOf,
  missing,
  onClose,
  children,
}: ResourceDrawerProps<T>) {
  const value = model.value.value
  return (
    <Drawer title={value !== null && titleOf ? titleOf(value) : id} onClose={onClose}>
      <ResourceView model={model}>{children}</ResourceView>
      {model.failure.value?.status === NOT_FOUND && missing}
    </Drawer>
  )
}
