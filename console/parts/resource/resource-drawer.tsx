import type { ComponentChildren } from 'preact'
import { Drawer } from '../drawer.tsx'
import type { ResourceModel } from './resource-model.ts'
import { ResourceView } from './resource-view.tsx'

export interface ResourceDrawerProps<T> {
  readonly id: string
  readonly model: ResourceModel<T>
  /** The title of the object; without one, and until the object is read, the id is shown. */
  readonly titleOf?: (value: T) => string
  readonly onClose: () => void
  readonly children: (value: T) => ComponentChildren
}

/** One object beside its list, which is read by its id. */
export function ResourceDrawer<T>({ id, model, titleOf, onClose, children }: ResourceDrawerProps<T>) {
  const value = model.value.value
  return (
    <Drawer title={value !== null && titleOf ? titleOf(value) : id} onClose={onClose}>
      <ResourceView model={model}>{children}</ResourceView>
    </Drawer>
  )
}
