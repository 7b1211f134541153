import { useSignal, useSignalEffect, type ReadonlySignal, type Signal } from '@preact/signals'
import { useRef, useLayoutEffect } from 'preact/hooks'
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
import { mayMove, useCardChanges, type CardEdit, readVersion } from './board-changes.tsx'
import { TicketDrawer } from './drawer.tsx'
import { filterLabel, assigneeLabel, valueLabel } from './labels.ts'
import {
  boardList,
  mostUrgentFirst,
  TICKET_STATUSES,
  TICKET_TONES,
  type Ticket,
  type TicketDetails,
  type TicketStatus,
  LEVEL_TONES,
} from './model.ts'
import { ticketWords } from './words.ts'
import { Icon } from '../../../parts/icon.tsx'
import { assigneeChoices } from './assignees.ts'

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
  // The event of the change comes later.
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

/** The ticket that the user drags. */
interface DraggedTicket {
  readonly ticket: Ticket
  /** Tag of the version that the user has begun to drag. */
  readonly etag: Promise<string | null>
}

interface TicketCardProps {
  readonly ticket: Ticket
  readonly href: string
  readonly isSelected: boolean
  readonly dragged: Signal<DraggedTicket | null>
  /** The id of the ticket that takes the focus when it comes to another column. */
  readonly moved: Signal<string | null>
  /** `etag` is the tag of the version that the user has seen. */
  readonly apply: (edit: CardEdit, etag: Promise<string | null>) => Promise<void>
}

/** A ticket on the board: it is dragged, or moved by Alt with an arrow, and its assignee is chosen on it. */
function TicketCard({ ticket, href, isSelected, dragged, moved, apply }: TicketCardProps) {
  const { id, title, level, source } = ticket
  const { levels } = ticketWords()
  const link = useRef<HTMLAnchorElement>(null)
  useLayoutEffect(() => {
    if (moved.peek() !== id) return
    moved.value = null
    link.current?.focus()
  }, [])
  const mayEdit = session.may('editTicket')
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.altKey && mayEdit ? STEPS[event.key] : undefined
    if (step === undefined) return
    event.preventDefault()
    const to = nextStatus(ticket, step)
    if (to === undefined) return
    moved.value = id
    void apply({ status: to }, readVersion(id))
  }
  return (
    <li
      class={isSelected ? 'ticket-card card row-selected' : 'ticket-card card'}
      draggable={mayEdit}
      onDragStart={() => (dragged.value = { ticket, etag: readVersion(id) })}
      onDragEnd={() => (dragged.value = null)}
    >
      <a
        class="row-link"
        href={href}
        draggable={false}
        ref={link}
        onKeyDown={onKeyDown}
        {...(mayEdit && { 'aria-keyshortcuts': 'Alt+ArrowRight Alt+ArrowLeft' })}
        {...(isSelected && { 'aria-current': 'true' as const })}
      >
        <bdi>{title}</bdi>
      </a>
      <div class="ticket-card-foot">
        <StatusBadge tone={LEVEL_TONES[level]} label={levels[level]} />
        {source !== null && <bdi class="muted">{source}</bdi>}
      </div>
      <Assignee ticket={ticket} mayChoose={mayEdit} apply={apply} />
    </li>
  )
}

const STEPS: Readonly<Record<string, 1 | -1>> = { ArrowRight: 1, ArrowLeft: -1 }

/** The next column in this direction to which the ticket may move. */
function nextStatus(ticket: Ticket, step: 1 | -1): TicketStatus | undefined {
  const at = TICKET_STATUSES.indexOf(ticket.status)
  const behind = step === 1 ? TICKET_STATUSES.slice(at + 1) : TICKET_STATUSES.slice(0, at).toReversed()
  return behind.find((status) => mayMove(ticket, status))
}

const NOBODY = ''

interface AssigneeProps extends Pick<TicketCardProps, 'ticket' | 'apply'> {
  readonly mayChoose: boolean
}

/** The assignee of the ticket, with a menu of users for a reader who may change it. */
function Assignee({ ticket: { id, assignee }, mayChoose, apply }: AssigneeProps) {
  const { fields, nobody } = ticketWords()
  const present = assignee ?? NOBODY
  // The chosen assignee until the API has answered.
  const chosen = useSignal<string | null>(null)
  // Until the user comes near, the other users need no elements.
  const isNear = useSignal(false)
  // The version that the user sees when the choice begins.
  const version = useRef<Promise<string | null>>(null)
  if (!mayChoose && assignee === null) return null
  const approach = () => (isNear.value = true)
  const choose = async (value: string) => {
    chosen.value = value
    await apply({ assignee: value === NOBODY ? null : value }, version.current ?? readVersion(id))
    chosen.value = null
  }
  const choices = isNear.value ? [NOBODY, ...assigneeChoices(assignee)] : [present]
  return (
    <label class="ticket-card-foot card-assignee muted" onPointerEnter={approach} onFocusIn={approach}>
      <Icon name="user" />
      <span class="visually-hidden">{fields.assignee} </span>
      {mayChoose ? (
        <select
          value={chosen.value ?? present}
          onFocus={() => {
            version.current = readVersion(id)
          }}
          onChange={({ currentTarget: { value } }) => void choose(value)}
        >
          {choices.map((key) => (
            <option key={key} value={key}>
              {key === NOBODY ? nobody : assigneeLabel(key)}
            </option>
          ))}
        </select>
      ) : (
        <bdi>{valueLabel('assignee', assignee)}</bdi>
      )}
    </label>
  )
}
