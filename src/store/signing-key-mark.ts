import { statement } from './tables.ts'
import { first, type Reads, type Tx } from './store.ts'

/** A row that never expires and that nobody takes: the database has been served, with the keys that `holder` names. */
const MARK = 'signing-key'

const read = statement<{ name: string }, { holder: string }>((db, value) =>
  db.selectFrom('leases').select('holder').where('name', '=', value('name')),
)

const save = statement<{ name: string; holder: string }>((db, value) =>
  db
    .insertInto('leases')
    .values({ name: value('name'), holder: value('holder'), expires_at: Number.MAX_SAFE_INTEGER })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ holder: value('holder') })),
)

/** What {@link recordSigningKeys} was given last; undefined before. The schema must be current. */
export async function readSigningKeys(reads: Reads): Promise<string | undefined> {
  return (await first(reads, read, { name: MARK }))?.holder
}

/** Records with which signing keys a platform serves this database. May be repeated. */
export async function recordSigningKeys(tx: Tx, names: string): Promise<void> {
  await tx.change(save, { name: MARK, holder: names })
}
