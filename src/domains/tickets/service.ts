import { invalidField, requireMove, requireFound, requireVersion } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Counter } from '../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { EventSink } from '../../ports/events.ts'
import { readsAside, type Queries, type ServiceDeps, type Tx } from '../../store/store.ts'
import {
  applyEdit,
  changesOf,
  eventData,
  mentionedNames,
  newTicket,
  SHOWN_COMMENTS,
  TICKET_EVENTS,
  TICKET_LEVELS,
  TICKET_MOVES,
  type Comment,
  type FieldChanges,
  type NewTicket,
  type Ticket,
  type TicketChange,
  type TicketDetails,
  type TicketEdit,
  type TicketLevel,
} from './model.ts'
import {
  countUnclosed,
  findKeyHolder,
  findTicket,
  insertMentions,
  insertTicket,
  insertTicketChange,
  listComments,
  listTicketChanges,
  listTickets,
  lockTicket,
  releaseDedupKey,
  takeDedupKey,
  updateTicket,
  type TicketFilter,
  type DescribedTicket,
} from './store.ts'

/** What the ticket domain needs of the rest of the platform. */
export interface TicketDeps extends ServiceDeps {
  readonly events: EventSink<TicketDetails>
  /** Whether a user has this id. */
  readonly userExists: (queries: Queries, userId: string) => Promise<boolean>
  /** The ids of those users who have one of these names, ignoring case. */
  readonly userIdsByNames: (queries: Queries, names: readonly string[]) => Promise<readonly string[]>
}

/** The tickets: their creation, changes, comments and history. */
export class Tickets {
  readonly #deps: TicketDeps
  readonly #created: Counter
  readonly #changes: Counter

  constructor(deps: TicketDeps) {
    this.#deps = deps
    this.#created = deps.metrics.counter({
      name: 'tickets_created_total',
      help: 'Created tickets.',
      labels: { level: TICKET_LEVELS },
    })
    this.#changes = deps.metrics.counter({
      name: 'ticket_changes_total',
      help: 'Changes of tickets after their creation, by changed field.',
      labels: ['field'],
    })
  }

  /**
   * Creates a ticket, or returns the unclosed one that holds the same dedup key, unchanged. Rejects with
   * `validation_failed` for an unknown assignee.
   */
  async create(
    tx: Tx,
    wanted: NewTicket,
    actor: string,
  ): Promise<{ ticket: TicketDetails; outcome: 'created' | 'unchanged' }> {
    const ticket = newTicket(wanted, newId(), actor, this.#deps.clock.now())
    const holder = await this.#takeKey(tx, ticket)
    if (holder) return { ticket: holder, outcome: 'unchanged' }
    const changes = changesOf(undefined, ticket)
    await this.#requireUser(tx, changes)
    await insertTicket(tx, ticket)
    return { ticket: await this.#record(tx, 'created', ticket, { actor, changes }), outcome: 'created' }
  }

  /** Rejects with `ticket_not_found`. */
  async get(id: string, queries: Queries = this.#deps.store.read): Promise<TicketDetails> {
    return withComments(queries, requireFound(await findTicket(queries, id), 'ticket', id))
  }

  /** Newest first. */
  list(filter: TicketFilter, page: PageRequest): Promise<Page<Ticket>> {
    const { store } = this.#deps
    const reads = filter.text === undefined ? store.read : readsAside(store)
    return listTickets(reads, withoutOverlap(filter), page)
  }

  /** Every change, oldest first, starting with the creation. Rejects with `ticket_not_found`. */
  async history(id: string, page: PageRequest): Promise<Page<TicketChange>> {
    const { read } = this.#deps.store
    requireFound(await findTicket(read, id), 'ticket', id)
    return listTicketChanges(read, { ticketId: id }, page)
  }

  /** Every comment, newest first. Rejects with `ticket_not_found`. */
  async comments(id: string, page: PageRequest): Promise<Page<Comment>> {
    const { read } = this.#deps.store
    requireFound(await findTicket(read, id), 'ticket', id)
    return listComments(read, { ticketId: id }, page)
  }

  /**
   * Changes a ticket. If no field gets another value, the ticket is returned unchanged, without an event. Rejects
   * with `ticket_not_found`, with `invalid_transition`, with `validation_failed` for an unknown assignee, and with
   * `precondition_failed` if the ticket has none of the `expectedVersions`.
   */
  async edit(
    tx: Tx,
    id: string,
    edit: TicketEdit,
    actor: string,
    expectedVersions?: readonly number[],
  ): Promise<TicketDetails> {
    const ticket = requireFound(await lockTicket(tx, id), 'ticket', id)
    requireVersion(ticket.version, expectedVersions, 'ticket')
    const next = applyEdit(ticket, edit, this.#deps.clock.now())
    const changes = {
      ...changesOf(ticket, next),
      ...(edit.comment !== undefined && { comment: [null, edit.comment] as const }),
    }
    if (Object.keys(changes).length === 0) return withComments(tx, ticket)
    if (next.status !== ticket.status) requireMove('A ticket', TICKET_MOVES, ticket.status, next.status)
    await this.#requireUser(tx, changes)
    await updateTicket(tx, next)
    await holdKey(tx, ticket, next)
    await this.#recordMentions(tx, id, edit)
    return this.#record(tx, 'updated', next, { actor, changes })
  }

  /** How many tickets of each level are not closed. */
  countUnclosed(): Promise<{ level: TicketLevel; tickets: number }[]> {
    const { store } = this.#deps
    return store.readAside(countUnclosed(store.read))
  }

  /** Takes the dedup key of a new ticket; returns the ticket that holds it already. */
  async #takeKey(tx: Tx, { id, dedupKey }: Ticket): Promise<TicketDetails | undefined> {
    if (dedupKey === null) return undefined
    // The holder may be closed between the two statements: then the key is free.
    while (!(await takeDedupKey(tx, dedupKey, id))) {
      const holder = await findKeyHolder(tx, dedupKey)
      if (holder) return withComments(tx, holder)
    }
    return undefined
  }

  async #requireUser(tx: Tx, { assignee }: FieldChanges): Promise<void> {
    const userId = assignee?.[1] ?? null
    if (userId === null || (await this.#deps.userExists(tx, userId))) return
    throw invalidField('assignee', 'not_a_user')
  }

  async #recordMentions(tx: Tx, ticketId: string, { comment = '' }: TicketEdit): Promise<void> {
    const named = mentionedNames(comment)
    if (named.length === 0) return
    await insertMentions(tx, ticketId, await this.#deps.userIdsByNames(tx, named))
  }

  /**
   * Writes the history and the event of a change in its transaction, and counts it after the commit. Returns the ticket
   * with its newest comments.
   */
  async #record(
    tx: Tx,
    event: keyof typeof TICKET_EVENTS,
    ticket: DescribedTicket,
    { actor, changes }: Pick<TicketChange, 'actor' | 'changes'>,
  ): Promise<TicketDetails> {
    const { id: ticketId, updatedAt: at } = ticket
    const { comment, ...others } = changes
    const text = comment?.[1] ?? null
    await insertTicketChange(tx, { id: newId(), ticketId, at, actor, changes: others, comment: text })
    const details = await withComments(tx, ticket)
    const type = TICKET_EVENTS[event]
    await this.#deps.events.append(tx, { type, subject: ticketId, data: eventData(details) })
    tx.afterCommit(() => {
      const fields = Object.keys(changes)
      if (event === 'created') this.#created.increment({ level: ticket.level })
      else for (const field of fields) this.#changes.increment({ field })
      this.#deps.logger.info({ ticket_id: ticketId, status: ticket.status, fields, actor }, `ticket ${event}`)
    })
    return details
  }
}

async function withComments(queries: Queries, ticket: DescribedTicket): Promise<TicketDetails> {
  if (ticket.commentCount === 0) return { ...ticket, comments: [] }
  const { items } = await listComments(queries, { ticketId: ticket.id }, { limit: SHOWN_COMMENTS })
  return { ...ticket, comments: items.toReversed() }
}

/** Closing a ticket releases its dedup key; reopening it takes the key again, if no other ticket holds it. */
async function holdKey(tx: Tx, { id, dedupKey, status: before }: Ticket, { status }: Ticket): Promise<void> {
  if (dedupKey === null || (before === 'closed') === (status === 'closed')) return
  if (status === 'closed') await releaseDedupKey(tx, dedupKey, id)
  else await takeDedupKey(tx, dedupKey, id)
}

/** The filter without the statuses that `unclosed` includes: no ticket may have two statuses of it. */
function withoutOverlap(filter: TicketFilter): TicketFilter {
  const { status } = filter
  if (typeof status !== 'object' || !status.includes('unclosed')) return filter
  return { ...filter, status: status.filter((each) => each === 'unclosed' || each === 'closed') }
}
