import { defineColumns, integer, text, schemaOf } from './columns.ts'

/** An answer that is stored under an `Idempotency-Key`. */
const idempotencyKeys = defineColumns({
  caller: text(),
  key: text(),
  requestHash: text(),
  status: integer(),
  /** JSON of headers and body. */
  answer: text(),
  createdAt: integer(),
})

/** Which process may do a thing that one process at a time does, and until when. */
const leases = defineColumns({ name: text(), holder: text(), expiresAt: integer() })

/** The tables of the store itself. */
export const { changeRow, changeRows, readRow, readRows } = schemaOf({
  idempotency_keys: idempotencyKeys,
  leases,
})
