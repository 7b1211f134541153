import { useSignal, useSignalEffect } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { localTime } from '../../../i18n/local.ts'
import { useActions } from '../../../parts/actions/actions.ts'
import { Button } from '../../../parts/button.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { FormDialog } from '../../../parts/form/form-dialog.tsx'
import { SchemaForm } from '../../../parts/form/schema-form.tsx'
import { LinkedText } from '../../../parts/linked-text.tsx'
import { MentionBox } from '../../../parts/mention-box.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { reportFailure } from '../../../parts/report-failure.ts'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { ResourceTimeline } from '../../../parts/resource/resource-timeline.tsx'
import { useChange, type Change, type ChangeActions } from '../../../parts/resource/use-change.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { WhoChanged } from '../audit/who-changed.tsx'
import { call, session } from '../platform.ts'
import { byUser, enabledUserChoices, userLabel, userName } from '../user-names.ts'
import type { DetailProps } from '../view.ts'
import { withAssignees } from './assignees.ts'
import { fieldLabel, valueLabel, assigneeLabel, comparedFields, levelLabel } from './labels.ts'
import {
  LEVEL_TONES,
  ticketMovesFrom,
  TICKET_TONES,
  type TicketChange,
  type TicketDetails,
  type Comment,
  type TicketEdit,
  type TicketStatus,
  ticketHistory,
  ticketResource,
  readComments,
} from './model.ts'
import { keepSeen } from './mention-notices.ts'
import { ticketWords } from './words.ts'

/** One ticket with its comments and its history. */
export function TicketDrawer({ id, onClose }: DetailProps) {
  const { history } = ticketWords()
  const model = useResource(ticketResource, id)
  useSignalEffect(() => {
    const ticket = model.value.value
    if (ticket) keepSeen(ticket)
  })
  return (
    <ResourceDrawer id={id} model={model} titleOf={({ title }) => title} onClose={onClose}>
      {(ticket) => (
        <>
          <TicketActions ticket={ticket} model={model} />
          <TicketFacts ticket={ticket} />
          <TicketComments key={ticket.id} ticket={ticket} model={model} />
          <ResourceTimeline
            title={history}
            source={ticketHistory}
            id={id}
            isShown={({ changes }) => changeLines(changes).length > 0}
            entryOf={historyEntry}
          />
          <WhoChanged kind="ticket" id={id} version={ticket.updated_at} />
        </>
      )}
    </ResourceDrawer>
  )
}

const TIMES = ['created_at', 'updated_at', 'resolved_at', 'closed_at'] as const

function TicketFacts({ ticket }: { readonly ticket: TicketDetails }) {
  const { fields, levels } = ticketWords()
  const { level, source, assignee, description } = ticket
  return (
    <FactList
      facts={[
        [fields.level, <StatusBadge tone={LEVEL_TONES[level]} label={levels[level]} />],
        [fields.source, source],
        [fields.assignee, valueLabel('assignee', assignee)],
        [fields.created_by, userLabel(ticket.created_by)],
        ...TIMES.map((name) => [fields[name], ticket[name] && localTime(ticket[name])] as const),
        [fields.description, description],
      ]}
    />
  )
}

function historyEntry({ at, actor, changes }: TicketChange, index: number) {
  return {
    key: `${at} ${index}`,
    at,
    tone: 'active' as const,
    title: <bdi>{changeLines(changes).join(', ')}</bdi>,
    note: <bdi>{byUser(actor)}</bdi>,
  }
}

type Changes = Readonly<Record<string, readonly (string | null)[]>>

/** The changed fields as lines. The first entry of a ticket has none, because the drawer shows the values. */
function changeLines(changes: Changes): string[] {
  const { change, firstEntry } = ticketWords()
  if (changes['status']?.[0] === null) return [firstEntry]
  return Object.entries(changes)
    .filter(([field]) => field !== 'comment')
    .map(([field, [from = null, to = null]]) =>
      change(fieldLabel(field), valueLabel(field, from), valueLabel(field, to)),
    )
}

interface TicketCommentsProps {
  readonly ticket: TicketDetails
  readonly model: ResourceModel<TicketDetails>
}

/** The comments of a ticket, and a form for another one. */
function TicketComments({ ticket, model }: TicketCommentsProps) {
  const { id } = ticket
  const words = ticketWords()
  const { comments, showOlder } = useComments(ticket)
  useActions(() => [{ title: words.addComment, keys: 'c', isKeyOnly: true, run: focusComment }])
  const { apply } = useChange(model)
  const send = (body: object) =>
    apply({
      // A comment is meant for every version of the ticket. Without one, the API would name no field.
      send: () => call('editTicket', { path: { id }, body: { comment: '', ...body } }),
      done: words.commented,
    })
  return (
    <Section title={words.comments}>
      {comments.length < ticket.comment_count && (
        <Button onClick={() => void showOlder()}>{words.olderComments}</Button>
      )}
      <Timeline
        label={words.comments}
        empty={words.noComments}
        entries={comments.map(({ id: key, at, author, text }) => ({
          key,
          at,
          tone: 'quiet' as const,
          title: <bdi>{userLabel(author)}</bdi>,
          note: (
            <bdi>
              <LinkedText text={text} />
            </bdi>
          ),
        }))}
      />
      {session.may('editTicket') && (
        <MentionBox label={words.people} names={mentionableNames(ticket)}>
          <SchemaForm
            key={id}
            schema={BODIES.editTicket}
            labels={{ comment: words.fields.comment }}
            hints={{ comment: words.mentionHint }}
            action={words.addComment}
            send={send}
            keepAs={`comment ${id}`}
            isRepeated
          />
        </MentionBox>
      )}
    </Section>
  )
}

function focusComment(): void {
  document.querySelector<HTMLElement>('.mention-box textarea')?.focus()
}

/** The users that a comment can mention: all for a reader who may list them, otherwise the participants of the ticket. */
function mentionableNames({ created_by, assignee, comments }: TicketDetails): readonly string[] {
  const me = session.bearer.value?.id
  const ids = new Set([
    ...enabledUserChoices(),
    assignee,
    created_by,
    ...comments.map(({ author }) => author),
  ])
  return [...ids]
    .flatMap((id) => (id === null || id === me ? [] : [userName(id)]))
    .filter((name) => name !== null)
}

/** The newest comments of a ticket, which come with it, and the older ones that were asked for. */
function useComments({ id, comments: newest }: TicketDetails) {
  const pages = useSignal(0)
  const read = useSignal<readonly Comment[]>([])
  const showOlder = async () => {
    const found = await readComments(id, pages.value + 1)
    if (!found.ok) return reportFailure(found.failure)
    pages.value += 1
    read.value = found.value.items.toReversed()
  }
  const known = new Set(newest.map((comment) => comment.id))
  return { comments: [...read.value.filter((comment) => !known.has(comment.id)), ...newest], showOlder }
}

/** In the order of their keys. */
const MOVES: readonly TicketStatus[] = ['in_progress', 'resolved', 'closed', 'open']

interface TicketActionsProps {
  readonly ticket: TicketDetails
  readonly model: ResourceModel<TicketDetails>
}

/** What the user may do with a ticket in its present state. */
function TicketActions({ ticket, model }: TicketActionsProps) {
  const words = ticketWords()
  const edited = useSignal<EditedTicket | null>(null)
  const { apply, applyAndReport, conflict } = useChange(model)
  const { status, assignee } = ticket
  const name = isolateText(ticket.title)
  const edit = (body: TicketEdit, done: string) => applyAndReport(changeOf(ticket.id, body, done))
  const me = session.bearer.value?.id ?? ''
  const actions = [
    ...MOVES.map(
      (to) =>
        ticketMovesFrom(status).includes(to) && {
          // A ticket in progress is open already.
          title: status === 'in_progress' && to === 'open' ? words.putBack : words.moves[to],
          run: () => edit({ status: to }, words.moved(name, words.statuses[to])),
        },
    ),
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
  readonly apply: ChangeActions<TicketDetails>['apply']
  readonly onClose: () => void
}

/** The title, the level and the assignee. Only what the user changes is sent: others may change the rest meanwhile. */
function EditDialog({ ticket, etag, apply, onClose }: EditDialogProps) {
  const { edit, save, fields, changed } = ticketWords()
  const { title, level, assignee } = ticket
  const send = async (entered: TicketEdit) => {
    const body = changedFields(ticket, entered)
    const failure =
      Object.keys(body).length === 0
        ? null
        : await apply(
            { ...changeOf(ticket.id, body, changed(isolateText(title))), fits: keeps(ticket, body) },
            etag,
          )
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
function changedFields(ticket: TicketDetails, entered: TicketEdit): TicketEdit {
  const { title = '', level = ticket.level, assignee = null } = entered
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
