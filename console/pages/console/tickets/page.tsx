import { useLocation } from 'preact-iso/router'
import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { useActions } from '../../../parts/actions/actions.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { LinkChoice } from '../../../parts/link-choice.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { focusFindBox } from '../../../parts/list/find-box.tsx'
import { readListQuery, withCursor, type ListQuery } from '../../../parts/list/list-query.ts'
import { ListView } from '../../../parts/list/list-view.tsx'
import type { Bulk } from '../../../parts/list/selection.tsx'
import { useNewItem, type NewItemDialog } from '../../../parts/list/new-item.tsx'
import { useSelectedItem } from '../../../parts/list/use-selected-item.ts'
import { PageHead } from '../../../parts/page-head.tsx'
import { session, call } from '../platform.ts'
import { enabledUserChoices } from '../user-names.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { withAssignees } from './assignees.ts'
import { TicketBoard } from './board.tsx'
import { TicketDrawer } from './drawer.tsx'
import { assigneeLabel, filterLabel, levelLabel, valueLabel } from './labels.ts'
import {
  LEVEL_TONES,
  ticketMovesFrom,
  TICKET_STATUSES,
  TICKET_TONES,
  boardList,
  ticketList,
  type Ticket,
  type TicketEdit,
} from './model.ts'
import { ticketWords } from './words.ts'

const PATH = pathOf('tickets')
const VIEWS = ['list', 'board'] as const

/** The tickets as a list or as a board, and beside it the ticket that the address names. */
export function TicketsPage({ id }: ViewProps) {
  const words = ticketWords()
  const { query: parameters } = useLocation()
  const view = parameters['view'] === 'board' ? 'board' : 'list'
  const filters = readListQuery(parameters, view === 'board' ? boardList : ticketList)
  const query: ListQuery = view === 'board' ? { view, ...filters } : filters
  const { open } = useSelectedItem(PATH, query)
  const { button, dialog } = useNewItem(session.may('createTicket'), words.newItem, open)
  return (
    <>
      <PageHead title={words.title}>
        <ViewChoice view={view} filters={filters} />
        {button}
      </PageHead>
      {view === 'board' ? (
        <TicketBoard path={PATH} query={query} id={id} />
      ) : (
        <TicketList path={PATH} id={id} />
      )}
      {dialog && <NewTicket {...dialog} />}
    </>
  )
}

interface ViewChoiceProps {
  readonly view: (typeof VIEWS)[number]
  /** The filters, which the other view keeps. */
  readonly filters: ListQuery
}

function ViewChoice({ view, filters }: ViewChoiceProps) {
  const { views, toView } = ticketWords()
  const choices = VIEWS.map((choice) => ({
    title: views[choice],
    icon: choice,
    href: withCursor(PATH, choice === 'board' ? { view: choice, ...filters } : filters, null),
    isCurrent: choice === view,
  }))
  const { route } = useLocation()
  const other = choices.find(({ isCurrent }) => !isCurrent)
  useActions(() => (other ? [{ title: toView[other.icon], keys: 'b', run: () => route(other.href) }] : []))
  return <LinkChoice label={views.label} choices={choices} />
}

/** Asks for the fields of a new ticket. */
function NewTicket({ onClose, onCreated }: NewItemDialog) {
  const words = ticketWords()
  const me = session.bearer.value?.id ?? ''
  return (
    <CreateDialog
      title={words.newItem}
      schema={withAssignees(BODIES.createTicket)}
      labels={words.fields}
      hints={words.hints}
      initial={{ level: 'medium' }}
      labelOf={(field, value) => (field === 'assignee' ? assigneeLabel(value) : levelLabel(value))}
      quickValues={{ assignee: [{ label: assigneeLabel(me), valueOf: () => me }] }}
      action={words.create}
      create={(body) => call('createTicket', { body: body as BodyOf<'createTicket'> })}
      doneOf={() => words.created}
      onCreated={({ id }) => onCreated(id)}
      onClose={onClose}
    />
  )
}

interface TicketListProps {
  readonly path: string
  readonly id?: string | undefined
}

/** The tickets, newest first. */
function TicketList({ path, id }: TicketListProps) {
  const words = ticketWords()
  useActions(() => [{ title: words.find, keys: '/', run: focusFindBox }])
  return (
    <ListView
      path={path}
      source={ticketList}
      words={words}
      labelOf={filterLabel}
      columns={ticketColumns()}
      icon="tickets"
      bulk={ticketBulk()}
      id={id}
      detail={(detail) => <TicketDrawer key={detail.id} {...detail} />}
    />
  )
}

const NOBODY = ''

/** The status and the assignee of several tickets. */
function ticketBulk(): Bulk<Ticket> | false {
  const { moves, assignTo, nobody } = ticketWords()
  if (!session.may('editTicket')) return false
  const edit = (body: TicketEdit) => (ticket: Ticket) => call('editTicket', { path: { id: ticket.id }, body })
  const me = session.bearer.value?.id ?? NOBODY
  const assignees = new Set([me, ...enabledUserChoices(), NOBODY])
  const nameOf = (id: string) => (id === NOBODY ? nobody : assigneeLabel(id))
  return {
    titleOf: ({ title }) => title,
    actions: TICKET_STATUSES.map((status) => ({
      title: moves[status],
      appliesTo: (ticket) => ticketMovesFrom(ticket.status).includes(status),
      send: edit({ status }),
    })),
    menus: [
      {
        title: assignTo,
        choices: [...assignees].map((id) => ({ key: id, title: nameOf(id) })),
        actionOf: (id) => ({
          title: `${assignTo} ${nameOf(id)}`,
          send: edit({ assignee: id === NOBODY ? null : id }),
        }),
      },
    ],
  }
}

function ticketColumns(): readonly TableColumn<Ticket>[] {
  const { fields, levels, statuses } = ticketWords()
  const column = fieldColumns<Ticket, typeof fields>(fields)
  return [
    column.text('title'),
    column.status('level', LEVEL_TONES, levels),
    column.status('status', TICKET_TONES, statuses, { isFromMedium: true }),
    column.cell('assignee', ({ assignee }) => <bdi>{valueLabel('assignee', assignee)}</bdi>, {
      isWideOnly: true,
    }),
    column.number('comment_count', { isWideOnly: true }),
    column.time('created_at', { isWideOnly: true, isFromMedium: true }),
  ]
}
