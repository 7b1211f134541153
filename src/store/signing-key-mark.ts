import { statement } from './tables.ts'
import { first, type Reads, type Tx } from './store.ts'

/** A row that never expires and that nobody takes: its database has been served, so a signing key was in use. */
const MARK = { name: 'signing-key', holder: 'in use' }

const read = statement<{ name: string }, { holder: string }>((db, value) =>
  db.selectFrom('leases').select('holder').where('name', '=', value('name')),
)

const insert = statement<typeof MARK>((db, value) =>
  db
    .insertInto('leases')
    .values({ name: value('name'), holder: value('holder'), expires_at: Number.MAX_SAFE_INTEGER })
    .onConflict((conflict) => conflict.column('name').doNothing()),
)

/** Whether a platform has served this database with a signing key. The schema must be current. */
export async function isSigningKeyInUse(reads: Reads): Promise<boolean> {
  return (await first(reads, read, { name: MARK.name })) !== undefined
}

/** May be repeated. */
export async function recordSigningKey(tx: Tx): Promise<void> {
  await tx.change(insert, MARK)
}
