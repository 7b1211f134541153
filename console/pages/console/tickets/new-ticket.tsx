import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { FormDialog } from '../../../parts/form/form-dialog.tsx'
import { showToast } from '../../../parts/toast.tsx'
import { call } from '../platform.ts'
import { levelLabel } from './labels.ts'
import type { TicketDetails } from './model.ts'
import { ticketWords } from './words.ts'

export interface NewTicketProps {
  readonly onClose: () => void
  readonly onCreated: (ticket: TicketDetails) => void
}

/** Asks for the fields of a new ticket. */
export function NewTicket({ onClose, onCreated }: NewTicketProps) {
  const words = ticketWords()
  const create = async (body: object) => {
    const result = await call('createTicket', { body: body as BodyOf<'createTicket'> })
    if (!result.ok) return result.failure
    showToast('good', words.created)
    onCreated(result.value)
    return null
  }
  return (
    <FormDialog
      title={words.newTicket}
      schema={BODIES.createTicket}
      labels={words.fields}
      hints={words.hints}
      labelOf={(_, value) => levelLabel(value)}
      action={words.create}
      send={create}
      onClose={onClose}
    />
  )
}
