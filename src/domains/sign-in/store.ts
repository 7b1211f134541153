import type { RowOf } from '../../store/columns.ts'
import type { Tx } from '../../store/store.ts'
import { signInAnswers, signInTickets, changeRow, changeRows, readRow } from './tables.ts'

export type TicketRow = RowOf<typeof signInTickets>

export const insertSignInTicket = changeRows((on, ticket: TicketRow) =>
  on.insertInto('sign_in_tickets').values(signInTickets.values(ticket)),
)

const findTicket = readRow((on, ticketHash: string) =>
  on.selectFrom('sign_in_tickets').select(signInTickets.all).where('ticket_hash', '=', ticketHash),
)

const deleteTicket = changeRow((on, ticketHash: string) =>
  on.deleteFrom('sign_in_tickets').where('ticket_hash', '=', ticketHash),
)

/** Removes a ticket and returns it; of concurrent transactions one gets it. */
export async function takeSignInTicket(tx: Tx, ticketHash: string): Promise<TicketRow | undefined> {
  const ticket = await findTicket(tx, ticketHash)
  return ticket && (await deleteTicket(tx, ticketHash)) ? ticket : undefined
}

/** `false` when the answer was used before. Waits for a concurrent transaction that claims the same one. */
export const claimAnswer = changeRow((on, stateHash: string, expiresAt: number) =>
  on
    .insertInto('sign_in_answers')
    .values(signInAnswers.values({ stateHash, expiresAt }))
    .onConflict((conflict) => conflict.column('state_hash').doNothing()),
)

const deleteExpiredTickets = changeRows((on, now: number, limit: number) =>
  on
    .deleteFrom('sign_in_tickets')
    .where('ticket_hash', 'in', (expired) =>
      expired.selectFrom('sign_in_tickets').select('ticket_hash').where('expires_at', '<=', now).limit(limit),
    ),
)

const deleteExpiredAnswers = changeRows((on, now: number, limit: number) =>
  on
    .deleteFrom('sign_in_answers')
    .where('state_hash', 'in', (expired) =>
      expired.selectFrom('sign_in_answers').select('state_hash').where('expires_at', '<=', now).limit(limit),
    ),
)

/** Removes what has expired, at most `limit` rows of each table; returns whether one of them may have more. */
export async function removeExpired(tx: Tx, now: number, limit: number): Promise<boolean> {
  const deleted = [await deleteExpiredTickets(tx, now, limit), await deleteExpiredAnswers(tx, now, limit)]
  return deleted.some((rows) => rows >= limit)
}
