import { createContext, type ComponentChildren } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'

export interface ModalProps {
  readonly label: string
  /** `cover` hides the page behind it, `tour` leaves it in sight. */
  readonly kind?: 'card' | 'palette' | 'side' | 'cover' | 'tour'
  readonly role?: 'alertdialog'
  /** Called for Escape, and for a click beside the dialog. */
  readonly onClose: () => void
  /** Called when the user goes back to another page; by default `onClose`. */
  readonly onLeave?: () => void
  readonly onInput?: () => void
  readonly children: ComponentChildren
}

// The longest time between the clicks of a double click.
const DOUBLE_CLICK_MS = 500

/** The second click of a double click on a button that closes a dialog is not meant for what was behind it. */
function ignoreSecondClick(): void {
  const ignore = (event: MouseEvent) => {
    // How many clicks came in a row, also if they were on several elements.
    if (event.detail < 2) return
    event.preventDefault()
    event.stopPropagation()
  }
  addEventListener('click', ignore, { capture: true })
  setTimeout(() => removeEventListener('click', ignore, { capture: true }), DOUBLE_CLICK_MS)
}

/** A notice at the top of every dialog, such as that the session ends soon: the page itself cannot be used while a dialog is open. */
export const ModalNotice = createContext<ComponentChildren>(null)

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
  const notice = useContext(ModalNotice)
  const latest = useRef(onLeave)
  latest.current = onLeave
  useLayoutEffect(() => {
    // "Back" must not leave a question about one page in front of another, also right after it is asked.
    const leave = () => latest.current()
    addEventListener('popstate', leave)
    return () => removeEventListener('popstate', leave)
  }, [])
  // Not `useEffect`, which ends after the dialog is removed: closing it would return no focus, and the second click would have passed.
  useLayoutEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    return () => {
      opened?.close()
      ignoreSecondClick()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`modal modal-${kind}`}
      aria-label={label}
      {...(role && { role })}
      onInput={onInput}
      // A browser closes a dialog by itself when Escape is pressed a second time, whatever `cancel` says.
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.isComposing) return
        event.preventDefault()
        onClose()
      }}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      <div class="modal-body">
        {kind === 'card' && notice}
        {children}
      </div>
    </dialog>
  )
}
