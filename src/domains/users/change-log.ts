import { randomInt } from 'node:crypto'
import type { MirroredUser } from '../../ports/user-source.ts'
import type { Queries, Tx } from '../../store/store.ts'
import type { User } from './model.ts'
import { userChanges, users, changeRows, lockable, readRow, readRows } from './tables.ts'

/** Users that have changed, in the order of their last changes. */
export interface ChangedUsers {
  /** Revision of the last item; that of the request when there is none. */
  readonly revision: number
  /** Whether the items are all users, because the requested revision is unknown. */
  readonly full: boolean
  readonly more: boolean
  readonly items: readonly MirroredUser[]
}

interface StoredChange {
  revision: number
  userId: string
  changedName: string
  id: string | null
  name: string
  roles: string
  enabled: number
  tokenGeneration: number
}

// A primary that was restored from a backup assigns other revisions than before: two steps of different histories are
// the same once in a million.
const LARGEST_STEP = 2 ** 20

// The table has one row.
const [findLastRevision, lockLastRevision] = lockable((on) =>
  on.selectFrom('user_revisions').select('revision').where('name', '=', 'users'),
)

const setLastRevision = changeRows((on, revision: number) =>
  on.updateTable('user_revisions').set({ revision }).where('name', '=', 'users'),
)

const insertChange = changeRows((on, revision: number, userId: string, name: string) =>
  on.insertInto('user_changes').values(userChanges.values({ revision, userId, name })),
)

const findChange = readRow((on, revision: number) =>
  on.selectFrom('user_changes').select('revision').where('revision', '=', revision),
)

/** The last change of each user after a revision, with the user as it is now. */
const listChangesAfter = readRows((on, after: number, limit: number) =>
  on
    .selectFrom('user_changes as change')
    .leftJoin('users', 'users.id', 'change.user_id')
    .select(['change.revision', 'change.user_id as userId', 'change.name as changedName'])
    .select(['users.id', 'users.name', 'users.roles', 'users.enabled'])
    .select('users.token_generation as tokenGeneration')
    .where('change.revision', '>', after)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('user_changes as later')
            .select('later.revision')
            .whereRef('later.user_id', '=', 'change.user_id')
            .whereRef('later.revision', '>', 'change.revision'),
        ),
      ),
    )
    .orderBy('change.revision')
    .limit(limit)
    .$castTo<StoredChange>(),
)

/**
 * Records a change of a user. The revision is assigned under the lock of one row, which the transaction keeps until its
 * commit: a reader that sees a revision sees all lower ones. Must be the last statement that locks anything.
 */
export async function recordChange(tx: Tx, { id: userId, name }: Pick<User, 'id' | 'name'>): Promise<void> {
  const last = (await lockLastRevision(tx))?.revision ?? 0
  const revision = last + randomInt(1, LARGEST_STEP)
  await setLastRevision(tx, revision)
  await insertChange(tx, revision, userId, name)
}

/** The users that have changed after a revision; all users if it is undefined, or was never assigned here. */
export async function readChanges(
  queries: Queries,
  since: number | undefined,
  limit: number,
): Promise<ChangedUsers> {
  const known = since === undefined ? undefined : await findChange(queries, since)
  const rows = await listChangesAfter(queries, known?.revision ?? 0, limit + 1)
  const page = rows.slice(0, limit)
  const full = known === undefined
  const revision = page.at(-1)?.revision ?? known?.revision ?? (await findLastRevision(queries))?.revision
  const items = page.map(toMirroredUser).filter(({ deleted }) => !full || !deleted)
  return { revision: revision ?? 0, full, more: rows.length > limit, items }
}

function toMirroredUser({ id, userId, changedName, ...row }: StoredChange): MirroredUser {
  if (id === null)
    return { id: userId, name: changedName, roles: [], enabled: false, tokenGeneration: 0, deleted: true }
  const { name, roles, enabled, tokenGeneration } = users.decode(row)
  return { id, name, roles, enabled, tokenGeneration, deleted: false }
}
