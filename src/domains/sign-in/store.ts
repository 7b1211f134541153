import type { NewRowOf, RowOf } from '../../store/columns.ts'
import type { Tx } from '../../store/store.ts'
import { db, signInAnswers, signInTickets, readRow, changeRow, changeRows } from './tables.ts'

export type TicketRow = RowOf<typeof signInTickets>

const findTicketRow = readRow((on, ticketHash: string) =>
  on.selectFrom('sign_in_tickets').select(signInTickets.all).where('ticket_hash', '=', ticketHash),
)

const removeTicketRow = changeRow((on, ticketHash: string) =>
  on.deleteFrom('sign_in_tickets').where('ticket_hash', '=', ticketHash),
)

const insertAnswer = changeRow((on, row: NewRowOf<typeof signInAnswers>) =>
  on
    .insertInto('sign_in_answers')
    .values(signInAnswers.values(row))
    .onConflict((conflict) => conflict.column('state_hash').doNothing()),
)

export const insertSignInTicket = changeRows((on, ticket: TicketRow) =>
  on.insertInto('sign_in_tickets').values(signInTickets.values(ticket)),
)

/** Removes a ticket and returns it; of concurrent transactions one gets it. */
export async function takeSignInTicket(tx: Tx, ticketHash: string): Promise<TicketRow | undefined> {
  const ticket = await findTicketRow(tx, ticketHash)
  const isTaken = ticket !== undefined && (await removeTicketRow(tx, ticketHash))
  return isTaken ? ticket : undefined
}

/** `false` when the answer was used before. Waits for a concurrent transaction that claims the same one. */
export async function claimAnswer(tx: Tx, stateHash: string, expiresAt: number): Promise<boolean> {
  return await insertAnswer(tx, { stateHash, expiresAt })
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
