import type { Secret } from '../../../kernel/secret.ts'
import type { NewRowOf } from '../../../store/columns.ts'
import { first, type Queries, type Tx } from '../../../store/store.ts'
import { nameKey, type User } from '../model.ts'
import { db, lockable, statement, userMirrors, users } from '../tables.ts'
import type { MirrorState } from './model.ts'

const STATE = userMirrors.pick('source', 'revision', 'confirmedAt', 'pool')
// The one row of user_mirrors.
const PRIMARY = { name: 'primary' }
const UNKNOWN: MirrorState = { source: null, revision: null, confirmedAt: null, pool: null }

const [read, lock] = lockable<{ name: string }, MirrorState>((on, value) =>
  on.selectFrom('user_mirrors').select(STATE).where('name', '=', value('name')),
)

const update = statement<MirrorState & { name: string }>((on, value) =>
  on
    .updateTable('user_mirrors')
    .set(userMirrors.set(value, 'source', 'revision', 'confirmedAt', 'pool'))
    .where('name', '=', value('name')),
)

const upsert = statement<NewRowOf<typeof users>>((on, value) =>
  on
    .insertInto('users')
    .values(users.values(value))
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(
          users.set(
            value,
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

const findNamesake = statement<{ id: string; nameKey: string }, { id: string }>((on, value) =>
  on.selectFrom('users').select('id').where('name_key', '=', value('nameKey')).where('id', '!=', value('id')),
)

export async function readState(queries: Queries): Promise<MirrorState> {
  return (await first(queries, read, PRIMARY)) ?? UNKNOWN
}

/** The state, locked until the end of the transaction. */
export async function lockState(tx: Tx): Promise<MirrorState> {
  return (await first(tx, lock, PRIMARY)) ?? UNKNOWN
}

/** The transaction must have locked the state. */
export async function writeState(tx: Tx, state: MirrorState): Promise<void> {
  await tx.change(update, { ...PRIMARY, ...state })
}

/** Inserts or overwrites the copy of a user; the name must be free. `passwordHash` is only of a new row. */
export async function writeCopy(tx: Tx, user: User, passwordHash: Secret): Promise<void> {
  await tx.change(upsert, { ...user, nameKey: nameKey(user.name), passwordHash })
}

/** The id of another user who has this name, ignoring case. */
export async function findOtherOfName(
  queries: Queries,
  { id, name }: Pick<User, 'id' | 'name'>,
): Promise<string | undefined> {
  return (await first(queries, findNamesake, { id, nameKey: nameKey(name) }))?.id
}

export async function listIds(queries: Queries): Promise<string[]> {
  return (await db(queries).selectFrom('users').select('id').execute()).map(({ id }) => id)
}
