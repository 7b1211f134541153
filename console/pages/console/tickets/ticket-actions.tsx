import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import { FormDialog } from '../../../parts/form/form-dialog.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange, type Change, type Changing } from '../../../parts/resource/use-change.tsx'
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
  const edited = useSignal<EditedTicket | null>(null)
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
    { title: words.edit, run: () => (edited.value = { ticket, etag: model.etag }) },
  ]
  return (
    <ObjectActions
      status={{ tone: TICKET_TONES[status], label: words.statuses[status] }}
      actions={session.may('editTicket') ? actions : []}
    >
      {edited.value && <EditDialog {...edited.value} apply={apply} onClose={() => (edited.value = null)} />}
      {conflict}
    </ObjectActions>
  )
}

/** The ticket as it was when its form was opened. */
interface EditedTicket {
  readonly ticket: TicketDetails
  readonly etag: string | null
}

interface EditDialogProps extends EditedTicket {
  readonly apply: Changing<TicketDetails>['apply']
  readonly onClose: () => void
}

/** The title, the level and the assignee. Only what the user changes is sent: others may change the rest meanwhile. */
function EditDialog({ ticket, etag, apply, onClose }: EditDialogProps) {
  const { edit, save, fields, changed } = ticketWords()
  const { title, level, assignee } = ticket
  const send = async (given: TicketEdit) => {
    const body = changedFields(ticket, given)
    const failure =
      Object.keys(body).length === 0
        ? null
        : await apply({ ...changeOf(ticket.id, body, changed(title)), fits: keeps(ticket, body) }, etag)
    if (!failure) onClose()
    return failure
  }
  return (
    <FormDialog
      title={edit}
      schema={{ ...withAssignees(BODIES.editTicket, assignee), required: ['title', 'level'] }}
      labels={{ title: fields.title, level: fields.level, assignee: fields.assignee }}
      labelOf={(field, value) => (field === 'assignee' ? assigneeLabel(value) : levelLabel(value))}
      initial={{ title, level, assignee: assignee ?? '' }}
      action={save}
      send={send}
      onClose={onClose}
    />
  )
}

/**
 * The fields of the form that differ from the ticket. An empty assignee is nobody, which the API calls null; an empty title
 * is refused by the API.
 */
function changedFields(ticket: TicketDetails, given: TicketEdit): TicketEdit {
  const { title = '', level = ticket.level, assignee = null } = given
  return {
    ...(title !== ticket.title && { title }),
    ...(level !== ticket.level && { level }),
    ...(assignee !== ticket.assignee && { assignee }),
  }
}

/** Whether another version of the ticket has the same values in the fields of an edit. */
function keeps(ticket: TicketDetails, edit: TicketEdit) {
  const names = (['title', 'level', 'assignee'] as const).filter((name) => name in edit)
  return (current: TicketDetails) => names.every((name) => current[name] === ticket[name])
}

function changeOf(id: string, body: TicketEdit, done: string): Change<TicketDetails> {
  return {
    send: (ifMatch) => call('editTicket', { path: { id }, body, ifMatch }),
    done,
    compare: (current) => comparedFields(body, current),
  }
}
