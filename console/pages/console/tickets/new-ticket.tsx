import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { call } from '../platform.ts'
import { withAssignees } from './assignees.ts'
import { assigneeLabel, levelLabel } from './labels.ts'
import { ticketWords } from './words.ts'

/** Asks for the fields of a new ticket. */
export function NewTicket({ onClose, onCreated }: NewItemDialog) {
  const words = ticketWords()
  return (
    <CreateDialog
      title={words.newTicket}
      schema={withAssignees(BODIES.createTicket)}
      labels={words.fields}
      hints={words.hints}
      labelOf={(field, value) => (field === 'assignee' ? assigneeLabel(value) : levelLabel(value))}
      action={words.create}
      create={(body) => call('createTicket', { body: body as BodyOf<'createTicket'> })}
      doneOf={() => words.created}
      onCreated={({ id }) => onCreated(id)}
      onClose={onClose}
    />
  )
}
