import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { FormDialog } from '../../../parts/form/form-dialog.tsx'
import { showToast } from '../../../parts/toast.tsx'
import { call } from '../platform.ts'
import type { Order } from './model.ts'
import { orderWords } from './words.ts'

export interface NewOrderProps {
  readonly onClose: () => void
  readonly onCreated: (order: Order) => void
}

/** Asks for the fields of a new order. */
export function NewOrder({ onClose, onCreated }: NewOrderProps) {
  const words = orderWords()
  const create = async (body: object) => {
    const result = await call('createOrder', { body: body as BodyOf<'createOrder'> })
    if (!result.ok) return result.failure
    showToast('good', words.createdToast(result.value.order_id))
    onCreated(result.value)
    return null
  }
  return (
    <FormDialog
      title={words.newOrder}
      schema={BODIES.createOrder}
      labels={words.fields}
      hints={words.hints}
      action={words.create}
      send={create}
      onClose={onClose}
    />
  )
}
