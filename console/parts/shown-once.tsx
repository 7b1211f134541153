import type { ComponentChildren } from 'preact'
import { Button } from './button.tsx'
import { CommandLine } from './command-line.tsx'
import { Modal } from './modal.tsx'

export interface ShownOnceProps {
  /** `close` says that the user has copied the secret. */
  readonly words: { readonly title: string; readonly text: string; readonly close: string }
  readonly secret: string
  /** Why the secret may not work as the reader expects. */
  readonly warning?: string | undefined
  readonly onClose: () => void
  /** How the secret is used. */
  readonly children?: ComponentChildren
}

/** A new secret, which nobody can read again. */
export function ShownOnce({ words, secret, warning, onClose, children }: ShownOnceProps) {
  const { title, text, close } = words
  return (
    <Modal label={title} onClose={onClose}>
      <h2>{title}</h2>
      <p>{text}</p>
      {warning && <p class="notice-text">{warning}</p>}
      <CommandLine label={title} command={secret} />
      {children}
      <div class="actions actions-end">
        <Button kind="main" onClick={onClose}>
          {close}
        </Button>
      </div>
    </Modal>
  )
}
