import type { Secret } from '../../../kernel/secret.ts'
import type { NewRowOf } from '../../../store/columns.ts'
import type { Queries, Tx } from '../../../store/store.ts'
import { nameKey, type User } from '../model.ts'
import { db, userMirrors, users, readRow, changeRows, lockable } from '../tables.ts'
import type { MirrorState } from './model.ts'

const STATE = userMirrors.pick('source', 'revision', 'confirmedAt', 'pool')
// The one row of user_mirrors.
const PRIMARY = { name: 'primary' }
const UNKNOWN: MirrorState = { source: null, revision: null, confirmedAt: null, pool: null }

const [read, lock] = lockable((on, name: string) =>
  on.selectFrom('user_mirrors').select(STATE).where('name', '=', name),
)

const update = changeRows((on, change: MirrorState & { name: string }) =>
  on
    .updateTable('user_mirrors')
    .set(userMirrors.set(change, 'source', 'revision', 'confirmedAt', 'pool'))
    .where('name', '=', change.name),
)

const upsert = changeRows((on, row: NewRowOf<typeof users>) =>
  on
    .insertInto('users')
    .values(users.values(row))
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(
          users.set(
            row,
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

const findNamesake = readRow((on, id: string, nameKey: string) =>
  on.selectFrom('users').select('id').where('name_key', '=', nameKey).where('id', '!=', id),
)

export async function readState(queries: Queries): Promise<MirrorState> {
  return (await read(queries, PRIMARY.name)) ?? UNKNOWN
}

/** The state, locked until the end of the transaction. */
export async function lockState(tx: Tx): Promise<MirrorState> {
  return (await lock(tx, PRIMARY.name)) ?? UNKNOWN
}

/** The transaction must have locked the state. */
export async function writeState(tx: Tx, state: MirrorState): Promise<void> {
  await update(tx, { ...PRIMARY, ...state })
}

/** Inserts or overwrites the copy of a user; the name must be free. `passwordHash` is only of a new row. */
export async function writeCopy(tx: Tx, user: User, passwordHash: Secret): Promise<void> {
  await upsert(tx, { ...user, nameKey: nameKey(user.name), passwordHash })
}

/** The id of another user who has this name, ignoring case. */
export async function findOtherOfName(
  queries: Queries,
  { id, name }: Pick<User, 'id' | 'name'>,
): Promise<string | undefined> {
  return (await findNamesake(queries, id, nameKey(name)))?.id
}

export async function listIds(queries: Queries): Promise<string[]> {
  return (await db(queries).selectFrom('users').select('id').execute()).map(({ id }) => id)
}
