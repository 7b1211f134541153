import { defineColumns, integer, text, schemaOf } from '../../store/columns.ts'

/** A ticket is only stored as a hash: the database does not contain what can be redeemed. */
export const signInTickets = defineColumns({
  ticketHash: text(),
  userId: text(),
  /** Generation of the user's tokens when the ticket was issued; what ends the tokens ends the ticket. */
  tokenGeneration: integer(),
  expiresAt: integer(),
})

/** The answers of the provider that were used, until the sign-in would have expired anyway. */
export const signInAnswers = defineColumns({ stateHash: text(), expiresAt: integer() })

export const { changeRow, changeRows, db, names, readRow } = schemaOf({
  sign_in_tickets: signInTickets,
  sign_in_answers: signInAnswers,
})
