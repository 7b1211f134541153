import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { call } from '../platform.ts'
import { orderWords } from './words.ts'

/** Asks for the fields of a new order. */
export function NewOrder({ onClose, onCreated }: NewItemDialog) {
  const words = orderWords()
  return (
    <CreateDialog
      title={words.newOrder}
      schema={BODIES.createOrder}
      labels={words.fields}
      hints={words.hints}
      action={words.create}
      create={(body) => call('createOrder', { body: body as BodyOf<'createOrder'> })}
      doneOf={({ order_id }) => words.createdToast(order_id)}
      onCreated={({ order_id }) => onCreated(order_id)}
      onClose={onClose}
    />
  )
}
