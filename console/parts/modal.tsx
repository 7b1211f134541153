import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export interface ModalProps {
  readonly label: string
  readonly kind?: 'card' | 'palette' | 'side'
  readonly role?: 'alertdialog'
  readonly onClose: () => void
  /** Called when the user goes back to another page; by default `onClose`. */
  readonly onLeave?: () => void
  readonly onInput?: () => void
  readonly children: ComponentChildren
}

/** A dialog in front of the page, open as long as it is drawn. The browser keeps the focus in it and returns it. */
export function Modal({
  label,
  kind = 'card',
  role,
  onClose,
  onLeave = onClose,
  onInput,
  children,
}: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const latest = useRef(onLeave)
  latest.current = onLeave
  useEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    // "Back" must not leave a question about one page in front of another.
    const leave = () => latest.current()
    addEventListener('popstate', leave)
    return () => {
      removeEventListener('popstate', leave)
      opened?.close()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`modal modal-${kind}`}
      aria-label={label}
      {...(role && { role })}
      onInput={onInput}
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
