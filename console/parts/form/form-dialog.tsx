import { useRef } from 'preact/hooks'
import { confirmAction } from '../confirm.tsx'
import { Modal } from '../modal.tsx'
import { partWords } from '../part-words.ts'
import { SchemaForm, type SchemaFormProps } from './schema-form.tsx'

export interface FormDialogProps extends Omit<SchemaFormProps, 'onCancel'> {
  readonly title: string
  /** What it does. */
  readonly text?: string
  readonly onClose: () => void
}

/** A form in front of the page. Escape, and a click beside it, lose nothing that was typed without a question. */
export function FormDialog({ title, text, onClose, ...form }: FormDialogProps) {
  const isTouched = useRef(false)
  const close = async () => {
    const { discardTitle, discardText, discard: action } = partWords()
    const question = { title: discardTitle, text: discardText, action, isDestructive: true }
    if (!isTouched.current || (await confirmAction(question))) onClose()
  }
  return (
    <Modal
      label={title}
      onInput={() => (isTouched.current = true)}
      onClose={() => void close()}
      onLeave={onClose}
    >
      <h2 class="modal-title">{title}</h2>
      {text && <p>{text}</p>}
      <SchemaForm {...form} onCancel={onClose} />
    </Modal>
  )
}
