import { useSignal, type Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { localNumber } from '../../../i18n/local.ts'
import { Conflict } from '../../../parts/conflict.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { ListAndDetail } from '../../../parts/list-and-detail.tsx'
import { FilterBar } from '../../../parts/list/filter-bar.tsx'
import type { ListQuery } from '../../../parts/list/list-query.ts'
import { useListOf } from '../../../parts/list/use-list.ts'
import { useSelectedItem } from '../../../parts/list/use-selected-item.ts'
import { partWords } from '../../../parts/part-words.ts'
import { reportFailure } from '../../../parts/report-failure.ts'
import { Failed, Loading } from '../../../parts/states.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { showToast } from '../../../parts/toast.tsx'
import { call, session } from '../platform.ts'
import { userLabel } from '../user-names.ts'
import { TicketDrawer } from './drawer.tsx'
import { comparedFields, filterLabel } from './labels.ts'
import {
  LEVEL_TONES,
  mostUrgentFirst,
  TICKET_STATUSES,
  TICKET_TONES,
  TICKET_MOVES,
  type Ticket,
  type TicketStatus,
  type TicketDetails,
  boardList,
} from './model.ts'
import { ticketWords } from './words.ts'

export interface TicketBoardProps {
  readonly path: string
  readonly query: ListQuery
  readonly id?: string | undefined
}

/** The tickets of each status side by side, the most urgent ones first. A ticket is dragged to another status; its drawer has buttons for that. */
export function TicketBoard({ path, query, id }: TicketBoardProps) {
  const { hrefOf, close } = useSelectedItem(path, query)
  const dragged = useSignal<DraggedTicket | null>(null)
  const { move, conflict } = useTicketMoves()
  const words = ticketWords()
  const { view: _, ...filters } = query
  return (
    <>
      <FilterBar path={path} filters={boardList.filters} query={query} words={words} labelOf={filterLabel} />
      <ListAndDetail detail={id !== undefined && <TicketDrawer key={id} id={id} onClose={close} />}>
        <div class="board">
          {TICKET_STATUSES.map((status) => (
            <BoardColumn
              key={status}
              status={status}
              filters={filters}
              hrefOf={hrefOf}
              selected={id}
              dragged={dragged}
              move={move}
            />
          ))}
        </div>
        {conflict}
      </ListAndDetail>
    </>
  )
}

interface DraggedTicket {
  readonly ticket: Ticket
  /** Tag of the version that the user has begun to drag. A list has no versions, so it is read. */
  readonly etag: Promise<string | null>
}

async function readVersion(id: string): Promise<string | null> {
  const result = await call('getTicket', { path: { id } })
  return result.ok ? result.etag : null
}

interface BoardColumnProps {
  readonly status: TicketStatus
  readonly filters: ListQuery
  readonly hrefOf: (id: string) => string
  readonly selected: string | undefined
  /** The ticket that the user drags. */
  readonly dragged: Signal<DraggedTicket | null>
  readonly move: (move: TicketMove) => Promise<void>
}

function BoardColumn({ status, filters, hrefOf, selected, dragged, move }: BoardColumnProps) {
  const words = ticketWords()
  const model = useListOf(boardList, { ...filters, status })
  const page = model.page.value
  const failure = model.failure.value
  // A ticket that was moved leaves its column at once, before the column is read again.
  const tickets = mostUrgentFirst(page?.items.filter((ticket) => ticket.status === status) ?? [])
  const incoming = dragged.value !== null && mayMove(dragged.value.ticket, status) ? dragged.value : null
  const drop = async ({ ticket, etag }: DraggedTicket) => {
    await move({ ticket, etag: await etag, to: status })
    await model.refresh()
  }
  return (
    <section
      class={incoming ? 'board-column board-target' : 'board-column'}
      aria-labelledby={`board-${status}`}
      onDragOver={(event) => incoming && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        if (incoming) void drop(incoming)
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
            onDrag={(isDragged) =>
              (dragged.value = isDragged ? { ticket, etag: readVersion(ticket.id) } : null)
            }
          />
        ))}
      </ul>
    </section>
  )
}

interface TicketCardProps {
  readonly ticket: Ticket
  readonly href: string
  readonly isSelected: boolean
  readonly onDrag: (isDragged: boolean) => void
}

function TicketCard({
  ticket: { title, level, source, assignee },
  href,
  isSelected,
  onDrag,
}: TicketCardProps) {
  const { fields, levels } = ticketWords()
  return (
    <li
      class={isSelected ? 'ticket-card card row-selected' : 'ticket-card card'}
      draggable={session.may('editTicket')}
      onDragStart={() => onDrag(true)}
      onDragEnd={() => onDrag(false)}
    >
      <a
        class="row-link"
        href={href}
        draggable={false}
        {...(isSelected && { 'aria-current': 'true' as const })}
      >
        <bdi>{title}</bdi>
      </a>
      <div class="ticket-card-foot">
        <StatusBadge tone={LEVEL_TONES[level]} label={levels[level]} />
        {source !== null && <bdi class="muted">{source}</bdi>}
      </div>
      {assignee !== null && (
        <div class="ticket-card-foot muted">
          <Icon name="user" />
          <span class="visually-hidden">{fields.assignee} </span>
          <bdi>{userLabel(assignee)}</bdi>
        </div>
      )}
    </li>
  )
}

function mayMove({ status }: Pick<Ticket, 'status'>, to: TicketStatus): boolean {
  return TICKET_MOVES[status].includes(to)
}

/** A ticket in the version that the user sees, and its new status. */
interface TicketMove {
  readonly ticket: Ticket
  readonly etag: string | null
  readonly to: TicketStatus
}

interface RefusedMove {
  readonly current: TicketDetails
  readonly etag: string | null
  readonly to: TicketStatus
}

interface TicketMoves {
  readonly move: (move: TicketMove) => Promise<void>
  /** To be drawn with the tickets. */
  readonly conflict: ComponentChildren
}

/** Gives tickets another status. The toast offers the way back, where the API has one. */
function useTicketMoves(): TicketMoves {
  const refused = useSignal<RefusedMove | null>(null)
  const compare = async ({ ticket: { id }, to }: TicketMove) => {
    const result = await call('getTicket', { path: { id } })
    if (!result.ok) return reportFailure(result.failure)
    const { value: current, etag } = result
    if (current.status === to) showToast('good', partWords().alreadySo)
    else refused.value = { current, etag, to }
  }
  const move = async (wanted: TicketMove): Promise<void> => {
    const { ticket, etag: ifMatch, to } = wanted
    const result = await call('editTicket', { path: { id: ticket.id }, body: { status: to }, ifMatch })
    if (!result.ok && result.failure.status === 412) return compare(wanted)
    if (!result.ok) return reportFailure(result.failure)
    const { moved, statuses } = ticketWords()
    const { value: changed, etag } = result
    const undo = () => void move({ ticket: changed, etag, to: ticket.status })
    showToast('good', moved(ticket.title, statuses[to]), mayMove(changed, ticket.status) ? undo : undefined)
  }
  const keep = () => (refused.value = null)
  const apply = ({ current, etag, to }: RefusedMove) => {
    keep()
    void move({ ticket: current, etag, to })
  }
  const shown = refused.value
  return {
    move,
    conflict: shown && (
      <Conflict
        fields={comparedFields({ status: shown.to }, shown.current)}
        onKeep={keep}
        onClose={keep}
        onApply={() => apply(shown)}
      />
    ),
  }
}
