import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import type { ApiFailure } from '../../../api/operations.ts'
import { FormDialog } from '../../../parts/form/form-dialog.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange, type Change } from '../../../parts/resource/use-change.tsx'
import { call, session } from '../platform.ts'
import { withAssignees } from './assignees.ts'
import { assigneeLabel, comparedFields, levelLabel } from './labels.ts'
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
  const { status, assignee, title: name } = ticket
  const edit = (body: TicketEdit, done: string) => applyAndReport(changeOf(ticket.id, body, done))
  const me = session.bearer.value?.id ?? ''
  const actions = [
    ...TICKET_MOVES[status].map((to) => ({
      // A ticket in progress is open already.
      title: status === 'in_progress' && to === 'open' ? words.putBack : words.moves[to],
      run: () => edit({ status: to }, words.moved(name, words.statuses[to])),
    })),
    assignee === me
      ? { title: words.unassign, run: () => edit({ assignee: null }, words.unassigned(name)) }
      : { title: words.assignToMe, run: () => edit({ assignee: me }, words.assignedToMe(name)) },
    { title: words.edit, run: () => (isEditing.value = true) },
  ]
  return (
    <ObjectActions
      status={{ tone: TICKET_TONES[status], label: words.statuses[status] }}
      actions={session.may('editTicket') ? actions : []}
    >
      {isEditing.value && (
        <EditDialog
          ticket={ticket}
          send={async (body) => {
            const failure = await apply(changeOf(ticket.id, body, words.changed(name)))
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

interface EditDialogProps {
  readonly ticket: TicketDetails
  readonly send: (body: TicketEdit) => Promise<ApiFailure | null>
  readonly onClose: () => void
}

/** The title, the level and the assignee. An empty assignee is nobody, which the API calls null. */
function EditDialog({ ticket, send, onClose }: EditDialogProps) {
  const { edit, save, fields } = ticketWords()
  const { title, level, assignee } = ticket
  return (
    <FormDialog
      title={edit}
      schema={withAssignees(BODIES.editTicket, assignee)}
      labels={{ title: fields.title, level: fields.level, assignee: fields.assignee }}
      labelOf={(field, value) => (field === 'assignee' ? assigneeLabel(value) : levelLabel(value))}
      initial={{ title, level, assignee: assignee ?? '' }}
      action={save}
      send={(body) => send({ assignee: null, ...body })}
      onClose={onClose}
    />
  )
}

function changeOf(id: string, body: TicketEdit, done: string): Change<TicketDetails> {
  return {
    send: (ifMatch) => call('editTicket', { path: { id }, body, ifMatch }),
    done,
    compare: (current) => comparedFields(body, current),
  }
}
