import { Modal } from '../modal.tsx'
import { SchemaForm, type SchemaFormProps } from './schema-form.tsx'

export interface FormDialogProps extends Omit<SchemaFormProps, 'onCancel'> {
  readonly title: string
  /** What it does. */
  readonly text?: string
  readonly onClose: () => void
}

/** A form in front of the page. */
export function FormDialog({ title, text, onClose, ...form }: FormDialogProps) {
  return (
    <Modal label={title} onClose={onClose}>
      <h2 class="modal-title">{title}</h2>
      {text && <p>{text}</p>}
      <SchemaForm {...form} onCancel={onClose} />
    </Modal>
  )
}
