import { Modal } from '../modal.tsx'
import { SchemaForm, type SchemaFormProps } from './schema-form.tsx'

export interface FormDialogProps extends Omit<SchemaFormProps, 'onCancel'> {
  readonly title: string
  readonly onClose: () => void
}

/** A form in front of the page. */
export function FormDialog({ title, onClose, ...form }: FormDialogProps) {
  return (
    <Modal label={title} onClose={onClose}>
      <h2 class="modal-title">{title}</h2>
      <SchemaForm {...form} onCancel={onClose} />
    </Modal>
  )
}
