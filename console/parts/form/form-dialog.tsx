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

/**
 * A form in front of the page. Escape, and a click beside it, lose nothing that was typed without a question, and do nothing
 * while it is sent.
 */
export function FormDialog({ title, text, onClose, ...form }: FormDialogProps) {
  const isTouched = useRef(false)
  const isSending = useRef(false)
  const send = async (body: object, how: SchemaFormProps['send']) => {
    isSending.current = true
    const failure = await how(body)
    isSending.current = false
    return failure
  }
  const close = async () => {
    // What is on its way cannot be discarded; the form closes when it has arrived.
    if (isSending.current) return
    const { discardTitle, discardText, discard: action, keepEditing: cancel } = partWords()
    const question = { title: discardTitle, text: discardText, action, cancel, isDestructive: true }
    if (!isTouched.current || (await confirmAction(question))) onClose()
  }
  const { other } = form
  return (
    <Modal
      label={title}
      onInput={() => (isTouched.current = true)}
      onClose={() => void close()}
      onLeave={onClose}
    >
      <h2 class="modal-title">{title}</h2>
      {text && <p>{text}</p>}
      <SchemaForm
        {...form}
        send={(body) => send(body, form.send)}
        {...(other && { other: { ...other, send: (body: object) => send(body, other.send) } })}
        onCancel={onClose}
      />
    </Modal>
  )
}
