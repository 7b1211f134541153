import type { NewRowOf } from '../../../store/columns.ts'
import type { Queries, Tx } from '../../../store/store.ts'
import { userMirrors, users, changeRows, lockable, readRow, readRows } from '../tables.ts'
import type { MirrorState } from './model.ts'

const UNKNOWN: MirrorState = { source: null, revision: null, confirmedAt: null, pool: null }

// The table has one row.
const [findPrimary, lockPrimary] = lockable((on) =>
  on.selectFrom('user_mirrors').select(userMirrors.except('name')).where('name', '=', 'primary'),
)

export async function readState(queries: Queries): Promise<MirrorState> {
  return (await findPrimary(queries)) ?? UNKNOWN
}

/** The state, locked until the end of the transaction. */
export async function lockState(tx: Tx): Promise<MirrorState> {
  return (await lockPrimary(tx)) ?? UNKNOWN
}

/** The transaction must have locked the state. */
export const writeState = changeRows((on, state: MirrorState) =>
  on
    .updateTable('user_mirrors')
    .set(userMirrors.set(state, 'source', 'revision', 'confirmedAt', 'pool'))
    .where('name', '=', 'primary'),
)

/** Inserts or overwrites the copy of a user; the name must be free. `passwordHash` is only of a new row. */
export const writeCopy = changeRows((on, user: NewRowOf<typeof users>) =>
  on
    .insertInto('users')
    .values(users.values(user))
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(
          users.set(
            user,
            'name',
            'nameKey',
            'roles',
            'enabled',
            'tokenGeneration',
            'tokensValidFrom',
            'updatedAt',
          ),
        ),
    ),
)

/** Another user who has this name. */
export const findNamesake = readRow((on, id: string, nameKey: string) =>
  on.selectFrom('users').select('id').where('name_key', '=', nameKey).where('id', '!=', id),
)

export const listIds = readRows((on) => on.selectFrom('users').select('id'))
