import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import { FormDialog } from '../../../parts/form/form-dialog.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange, type Change } from '../../../parts/resource/use-change.tsx'
import { call, session } from '../platform.ts'
import { comparedFields, levelLabel } from './labels.ts'
import { TICKET_MOVES, TICKET_TONES, type TicketDetails, type TicketEdit } from './model.ts'
import { ticketWords } from './words.ts'

export interface TicketActionsProps {
  readonly ticket: TicketDetails
  readonly model: ResourceModel<TicketDetails>
}

/** What the user may do with a ticket in its present state. */
export function TicketActions({ ticket, model }: TicketActionsProps) {
  const words = ticketWords()
  const isEditing = useSignal(false)
  const { apply, applyAndReport, conflict } = useChange(model)
  const edit = (body: TicketEdit) => applyAndReport(changeOf(ticket.id, body))
  const { status, assignee } = ticket
  const me = session.bearer.value?.id ?? ''
  const actions = [
    ...TICKET_MOVES[status].map((to) => ({ title: words.moves[to], run: () => edit({ status: to }) })),
    assignee === me
      ? { title: words.unassign, run: () => edit({ assignee: null }) }
      : { title: words.assignToMe, run: () => edit({ assignee: me }) },
    { title: words.edit, run: () => (isEditing.value = true) },
  ]
  return (
    <ObjectActions
      status={{ tone: TICKET_TONES[status], label: words.statuses[status] }}
      actions={session.may('editTicket') ? actions : []}
    >
      {isEditing.value && (
        <FormDialog
          title={words.edit}
          schema={BODIES.editTicket}
          labels={{ title: words.fields.title, level: words.fields.level }}
          labelOf={(_, value) => levelLabel(value)}
          initial={{ title: ticket.title, level: ticket.level }}
          action={words.edit}
          send={async (body) => {
            const failure = await apply(changeOf(ticket.id, body))
            if (!failure) isEditing.value = false
            return failure
          }}
          onClose={() => (isEditing.value = false)}
        />
      )}
      {conflict}
    </ObjectActions>
  )
}

function changeOf(id: string, body: TicketEdit): Change<TicketDetails> {
  return {
    send: (ifMatch) => call('editTicket', { path: { id }, body, ifMatch }),
    done: ticketWords().changed,
    compare: (current) => comparedFields(body, current),
  }
}
