import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { confirmAction } from '../confirm.tsx'
import { Modal } from '../modal.tsx'
import { partWords } from '../part-words.ts'
import { SchemaForm, type SchemaFormProps } from './schema-form.tsx'
import { useUnsavedInput } from './unsaved-input.ts'

export interface FormDialogProps extends Omit<SchemaFormProps, 'onCancel'> {
  readonly title: string
  /** What it does. */
  readonly text?: string
  readonly onClose: () => void
}

/**
 * A form in front of the page. Escape, a click beside it and the browser lose nothing that was typed without a question;
 * Escape and a click do nothing while it is sent.
 */
export function FormDialog({ title, text, onClose, ...form }: FormDialogProps) {
  const isTouched = useSignal(false)
  const isSending = useRef(false)
  const send = async (body: object, how: SchemaFormProps['send']) => {
    isSending.current = true
    const failure = await how(body)
    isSending.current = false
    return failure
  }
  const discard = () => {
    isTouched.value = false
    onClose()
  }
  const close = async () => {
    // What is on its way cannot be discarded; the form closes when it has arrived.
    if (isSending.current) return
    if (!isTouched.value || (await mayDiscard())) discard()
  }
  useUnsavedInput({ isUnsaved: isTouched, mayDiscard, discard })
  const { other } = form
  return (
    <Modal
      label={title}
      onInput={() => (isTouched.value = true)}
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

function mayDiscard(): Promise<boolean> {
  const { discardTitle, discardText, discard: action, keepEditing: cancel } = partWords()
  return confirmAction({ title: discardTitle, text: discardText, action, cancel, isDestructive: true })
}
