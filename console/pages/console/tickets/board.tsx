import { useSignal, useSignalEffect, type ReadonlySignal, type Signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { localNumber } from '../../../i18n/local.ts'
import { useActions } from '../../../parts/actions/actions.ts'
import { ListAndDetail } from '../../../parts/list-and-detail.tsx'
import { FilterBar } from '../../../parts/list/filter-bar.tsx'
import type { ListQuery } from '../../../parts/list/list-query.ts'
import { useListOf } from '../../../parts/list/use-list.ts'
import { useSelectedItem } from '../../../parts/list/use-selected-item.ts'
import { Failed, Loading } from '../../../parts/states.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { session } from '../platform.ts'
import { TicketCard, type DraggedTicket } from './board-card.tsx'
import { mayMove, useCardChanges, type CardEdit } from './board-changes.tsx'
import { TicketDrawer } from './drawer.tsx'
import { filterLabel } from './labels.ts'
import {
  boardList,
  mostUrgentFirst,
  TICKET_STATUSES,
  TICKET_TONES,
  type Ticket,
  type TicketDetails,
  type TicketStatus,
} from './model.ts'
import { ticketWords } from './words.ts'

export interface TicketBoardProps {
  readonly path: string
  readonly query: ListQuery
  readonly id?: string | undefined
}

/** The tickets of each status side by side, the most urgent ones first. */
export function TicketBoard({ path, query, id }: TicketBoardProps) {
  const { hrefOf, close } = useSelectedItem(path, query)
  const dragged = useSignal<DraggedTicket | null>(null)
  const moved = useSignal<string | null>(null)
  const board = useRef<HTMLDivElement>(null)
  const { apply, changed, conflict } = useCardChanges()
  const words = ticketWords()
  const { view: _, ...filters } = query
  useActions(() => [
    { title: words.nextCard, keys: 'j', isKeyOnly: true, run: () => focusCard(board.current, 1) },
    { title: words.previousCard, keys: 'k', isKeyOnly: true, run: () => focusCard(board.current, -1) },
    // The card that has the focus handles the key itself; the action only lists it in the help.
    ...(session.may('editTicket')
      ? [{ title: words.moveCard, keys: 'Alt-← →', isKeyOnly: true, run: () => {} }]
      : []),
  ])
  return (
    <>
      <FilterBar path={path} filters={boardList.filters} query={query} words={words} labelOf={filterLabel} />
      <ListAndDetail detail={id !== undefined && <TicketDrawer key={id} id={id} onClose={close} />}>
        <div class="board" ref={board}>
          {TICKET_STATUSES.map((status) => (
            <BoardColumn
              key={status}
              status={status}
              filters={filters}
              hrefOf={hrefOf}
              selected={id}
              dragged={dragged}
              moved={moved}
              changed={changed}
              apply={async (ticket, edit, etag) => apply({ ticket, edit, etag: await etag })}
            />
          ))}
        </div>
        {conflict}
      </ListAndDetail>
    </>
  )
}

/** From the card that has the focus to the next or the previous one, also of another column. */
function focusCard(board: HTMLElement | null, step: 1 | -1): void {
  const links = [...(board?.querySelectorAll<HTMLElement>('.ticket-card .row-link') ?? [])]
  const at = links.findIndex((link) => link.parentElement?.contains(document.activeElement))
  links[at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + step))]?.focus()
}

interface BoardColumnProps {
  readonly status: TicketStatus
  readonly filters: ListQuery
  readonly hrefOf: (id: string) => string
  readonly selected: string | undefined
  readonly dragged: Signal<DraggedTicket | null>
  readonly moved: Signal<string | null>
  readonly changed: ReadonlySignal<TicketDetails | null>
  readonly apply: (ticket: Ticket, edit: CardEdit, etag: Promise<string | null>) => Promise<void>
}

function BoardColumn(props: BoardColumnProps) {
  const { status, filters, hrefOf, selected, dragged, moved, changed, apply } = props
  const words = ticketWords()
  const model = useListOf(boardList, { ...filters, status })
  const page = model.page.value
  const failure = model.failure.value
  // Its event comes later.
  useSignalEffect(() => {
    if (changed.value?.status === status) void model.refresh()
  })
  // A ticket that was moved leaves its column at once, before the column is read again.
  const tickets = mostUrgentFirst(
    page?.items.map((ticket) => latestOf(ticket, changed.value)).filter((each) => each.status === status) ??
      [],
  )
  const incoming = dragged.value !== null && mayMove(dragged.value.ticket, status) ? dragged.value : null
  return (
    <section
      class={incoming ? 'board-column board-target' : 'board-column'}
      aria-labelledby={`board-${status}`}
      onDragOver={(event) => incoming && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        if (incoming) void apply(incoming.ticket, { status }, incoming.etag)
      }}
    >
      <div class="board-head">
        <h2 class="board-title" id={`board-${status}`}>
          <StatusBadge tone={TICKET_TONES[status]} label={words.statuses[status]} />
        </h2>
        {page && (
          <span class="muted">
            <span class="visually-hidden">{words.title} </span>
            {words.count(localNumber(tickets.length), page.next_cursor !== null)}
          </span>
        )}
      </div>
      {failure && <Failed failure={failure} onRetry={() => void model.refresh()} />}
      {!page && !failure && <Loading />}
      {page && tickets.length === 0 && <p class="muted board-empty">{words.emptyColumn}</p>}
      {page?.next_cursor && <p class="muted">{words.more(localNumber(tickets.length))}</p>}
      <ul class="board-cards">
        {tickets.map((ticket) => (
          <TicketCard
            key={ticket.id}
            ticket={ticket}
            href={hrefOf(ticket.id)}
            isSelected={ticket.id === selected}
            dragged={dragged}
            moved={moved}
            apply={(edit, etag) => apply(ticket, edit, etag)}
          />
        ))}
      </ul>
    </section>
  )
}

function latestOf(ticket: Ticket, changed: TicketDetails | null): Ticket {
  const isOlder = changed?.id === ticket.id && Date.parse(ticket.updated_at) < Date.parse(changed.updated_at)
  return isOlder ? changed : ticket
}
