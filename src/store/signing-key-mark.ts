import { statement } from './tables.ts'
import { first, type Reads, type Tx } from './store.ts'

/** Rows that never expire and that nobody takes: with which keys the database is served, and which were replaced. */
const SERVED = 'signing-key'
const REPLACED = 'signing-key-replaced'

const read = statement<{ name: string }, { holder: string }>((db, value) =>
  db.selectFrom('leases').select('holder').where('name', '=', value('name')),
)

const save = statement<{ name: string; holder: string }>((db, value) =>
  db
    .insertInto('leases')
    .values({ name: value('name'), holder: value('holder'), expires_at: Number.MAX_SAFE_INTEGER })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ holder: value('holder') })),
)

const remove = statement<{ name: string }>((db, value) =>
  db.deleteFrom('leases').where('name', '=', value('name')),
)

/** What {@link recordSigningKeys} was given last; undefined before. The schema must be current. */
export async function readSigningKeys(reads: Reads): Promise<string | undefined> {
  return (await first(reads, read, { name: SERVED }))?.holder
}

/** Records with which signing keys a platform serves this database. May be repeated. */
export async function recordSigningKeys(tx: Tx, names: string): Promise<void> {
  await tx.change(save, { name: SERVED, holder: names })
}

/** Keys that no key of now has followed: what they have signed is refused. */
export interface ReplacedKeys {
  readonly names: readonly string[]
  /** When the last token of them ends. */
  readonly until: number
}

/** What {@link recordReplacedKeys} was given last. The schema must be current. */
export async function readReplacedKeys(reads: Reads): Promise<ReplacedKeys | undefined> {
  const row = await first(reads, read, { name: REPLACED })
  return row && (JSON.parse(row.holder) as ReplacedKeys)
}

/** Undefined removes the record. */
export async function recordReplacedKeys(tx: Tx, keys: ReplacedKeys | undefined): Promise<void> {
  if (keys) await tx.change(save, { name: REPLACED, holder: JSON.stringify(keys) })
  else await tx.change(remove, { name: REPLACED })
}
