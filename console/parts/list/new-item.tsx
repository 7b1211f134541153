import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { useLayoutEffect } from 'preact/hooks'
import { Button } from '../button.tsx'
import { addressOf } from './list-query.ts'

export interface NewItemDialog {
  readonly onClose: () => void
  /** Closes the dialog, and shows the new item. */
  readonly onCreated: (id: string) => void
}

const NEW = 'new'

/** Where the form for a new item of this list is open. */
export function newItemAddress(path: string): string {
  return addressOf(path, { [NEW]: '' })
}

let openForm: (() => void) | undefined

/** Opens the form of the list that is drawn now. */
export function openNewItem(): void {
  openForm?.()
}

/** The button for a new item, and what its form gets while it is open; neither if the user must not create one. */
export function useNewItem(mayCreate: boolean, title: string, open: (id: string) => void) {
  const isCreating = useSignal(false)
  const create = () => (isCreating.value = true)
  const onClose = () => (isCreating.value = false)
  useLayoutEffect(() => {
    openForm = mayCreate ? create : undefined
    return () => (openForm = undefined)
  }, [mayCreate])
  const { path, query, route } = useLocation()
  const { [NEW]: begins, ...others } = query
  useLayoutEffect(() => {
    if (begins === undefined) return
    create()
    // Once: the form is not open again after a reload, or on the way back.
    route(addressOf(path, others), true)
  }, [begins])
  if (!mayCreate) return { button: null, dialog: null }
  const onCreated = (id: string) => {
    onClose()
    open(id)
  }
  return {
    button: (
      <Button kind="main" icon="plus" onClick={create}>
        {title}
      </Button>
    ),
    dialog: isCreating.value ? ({ onClose, onCreated } satisfies NewItemDialog) : null,
  }
}
