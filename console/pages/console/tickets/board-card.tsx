import { useSignal, type Signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../../../parts/icon.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { session } from '../platform.ts'
import { assigneeChoices } from './assignees.ts'
import { mayMove, readVersion, type CardEdit } from './board-changes.tsx'
import { assigneeLabel, valueLabel } from './labels.ts'
import { LEVEL_TONES, TICKET_STATUSES, type Ticket, type TicketStatus } from './model.ts'
import { ticketWords } from './words.ts'

/** The ticket that the user drags. */
export interface DraggedTicket {
  readonly ticket: Ticket
  /** Tag of the version that the user has begun to drag. */
  readonly etag: Promise<string | null>
}

export interface TicketCardProps {
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
export function TicketCard({ ticket, href, isSelected, dragged, moved, apply }: TicketCardProps) {
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
