import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export interface ModalProps {
  readonly label: string
  readonly kind?: 'card' | 'palette' | 'side'
  readonly role?: 'alertdialog'
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A dialog in front of the page, open as long as it is drawn. The browser keeps the focus in it and returns it. */
export function Modal({ label, kind = 'card', role, onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    return () => opened?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`modal modal-${kind}`}
      aria-label={label}
      {...(role && { role })}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      <div class="modal-body">{children}</div>
    </dialog>
  )
}
