import type { NewRowOf, RowOf } from '../../store/columns.ts'
import { first, type Tx } from '../../store/store.ts'
import { db, signInAnswers, signInTickets, statement } from './tables.ts'

export type TicketRow = RowOf<typeof signInTickets>

const insertTicketRow = statement<NewRowOf<typeof signInTickets>>((on, value) =>
  on.insertInto('sign_in_tickets').values(signInTickets.values(value)),
)

const findTicketRow = statement<{ ticketHash: string }, TicketRow>((on, value) =>
  on.selectFrom('sign_in_tickets').select(signInTickets.all).where('ticket_hash', '=', value('ticketHash')),
)

const removeTicketRow = statement<{ ticketHash: string }>((on, value) =>
  on.deleteFrom('sign_in_tickets').where('ticket_hash', '=', value('ticketHash')),
)

const insertAnswer = statement<NewRowOf<typeof signInAnswers>>((on, value) =>
  on
    .insertInto('sign_in_answers')
    .values(signInAnswers.values(value))
    .onConflict((conflict) => conflict.column('state_hash').doNothing()),
)

export async function insertSignInTicket(tx: Tx, ticket: TicketRow): Promise<void> {
  await tx.change(insertTicketRow, ticket)
}

/** Removes a ticket and returns it; of concurrent transactions one gets it. */
export async function takeSignInTicket(tx: Tx, ticketHash: string): Promise<TicketRow | undefined> {
  const ticket = await first(tx, findTicketRow, { ticketHash })
  const isTaken = ticket !== undefined && (await tx.change(removeTicketRow, { ticketHash })) === 1
  return isTaken ? ticket : undefined
}

/** `false` when the answer was used before. Waits for a concurrent transaction that claims the same one. */
export async function claimAnswer(tx: Tx, stateHash: string, expiresAt: number): Promise<boolean> {
  return (await tx.change(insertAnswer, { stateHash, expiresAt })) === 1
}

/** Removes what has expired, at most `limit` rows of each table; returns whether one of them may have more. */
export async function removeExpired(tx: Tx, now: number, limit: number): Promise<boolean> {
  const tickets = await db(tx)
    .deleteFrom('sign_in_tickets')
    .where('ticket_hash', 'in', (on) =>
      on.selectFrom('sign_in_tickets').select('ticket_hash').where('expires_at', '<=', now).limit(limit),
    )
    .executeTakeFirst()
  const answers = await db(tx)
    .deleteFrom('sign_in_answers')
    .where('state_hash', 'in', (on) =>
      on.selectFrom('sign_in_answers').select('state_hash').where('expires_at', '<=', now).limit(limit),
    )
    .executeTakeFirst()
  return [tickets, answers].some(({ numDeletedRows }) => numDeletedRows >= limit)
}
