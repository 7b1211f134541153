import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import { useLayoutEffect } from 'preact/hooks'
import { Button } from '../button.tsx'
import { addressOf } from './list-query.ts'

export interface NewItemDialog {
  readonly onClose: () => void
  /** Closes the dialog, and shows the new item. */
  readonly onCreated: (id: string) => void
}

/** How an item of a list is created. */
export interface NewItem {
  /** The words of the button. */
  readonly title: string
  readonly dialog: (dialog: NewItemDialog) => ComponentChildren
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

/** The button and the dialog for a new item; nothing of it if the user must not create one. */
export function useNewItem(newItem: NewItem | false, open: (id: string) => void) {
  const isCreating = useSignal(false)
  const create = () => (isCreating.value = true)
  const onClose = () => (isCreating.value = false)
  useLayoutEffect(() => {
    openForm = newItem === false ? undefined : create
    return () => (openForm = undefined)
  }, [newItem === false])
  const { path, query, route } = useLocation()
  const { [NEW]: begins, ...others } = query
  useLayoutEffect(() => {
    if (begins === undefined) return
    create()
    // Once: the form is not open again after a reload, or on the way back.
    route(addressOf(path, others), true)
  }, [begins])
  if (!newItem) return { button: null, dialog: null }
  const onCreated = (id: string) => {
    onClose()
    open(id)
  }
  return {
    button: (
      <Button kind="main" icon="plus" onClick={create}>
        {newItem.title}
      </Button>
    ),
    dialog: isCreating.value && newItem.dialog({ onClose, onCreated }),
  }
}
