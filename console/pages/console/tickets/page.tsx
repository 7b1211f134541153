import { useLocation } from 'preact-iso/router'
import { LinkChoice } from '../../../parts/link-choice.tsx'
import type { ListQuery } from '../../../parts/list/list-query.ts'
import { useNewItem, type NewItemDialog } from '../../../parts/list/new-item.tsx'
import { useSelectedItem } from '../../../parts/list/use-selected-item.ts'
import { PageHead } from '../../../parts/page-head.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { session } from '../platform.ts'
import { TicketBoard } from './board.tsx'
import { TicketList } from './list.tsx'
import { NewTicket } from './new-ticket.tsx'
import { ticketWords } from './words.ts'

const PATH = pathOf({ name: 'tickets' })
const VIEWS = ['list', 'board'] as const
const BOARD: ListQuery = { view: 'board' }

/** The tickets as a list or as a board, and beside it the ticket that the address names. */
export function TicketsPage({ id }: ViewProps) {
  const words = ticketWords()
  const view = useLocation().query['view'] === 'board' ? 'board' : 'list'
  const { open } = useSelectedItem(PATH, view === 'board' ? BOARD : {})
  const newTicket = session.may('createTicket') && {
    title: words.newTicket,
    dialog: (dialog: NewItemDialog) => <NewTicket {...dialog} />,
  }
  const { button, dialog } = useNewItem(newTicket, open)
  return (
    <>
      <PageHead title={words.title}>
        <ViewChoice view={view} />
        {button}
      </PageHead>
      {view === 'board' ? (
        <TicketBoard path={PATH} query={BOARD} id={id} />
      ) : (
        <TicketList path={PATH} id={id} />
      )}
      {dialog}
    </>
  )
}

function ViewChoice({ view }: { readonly view: (typeof VIEWS)[number] }) {
  const { views } = ticketWords()
  const choices = VIEWS.map((each) => ({
    title: views[each],
    icon: each,
    href: each === 'board' ? `${PATH}?view=board` : PATH,
    isCurrent: each === view,
  }))
  return <LinkChoice label={views.label} choices={choices} />
}
