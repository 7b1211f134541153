import type { Queries, Tx } from '../../store/store.ts'
import type { MenuNode, MenuTree } from './model.ts'
import { db, menus, readRow, readRows, changeRows } from './tables.ts'

// The one row of menu_revisions.
const TREE = 'shop'
// A statement of SQLite holds the event loop: so few rows take a millisecond or two, the building of the statement included.
const ROWS_PER_STATEMENT = 50
const ROWS_PER_READ = 1_000

const lockTree = readRow(
  (on, name: string) =>
    on.selectFrom('menu_revisions').select('revision').where('name', '=', name).forUpdate(),
  ({ revision }) => revision,
)

const setRevision = changeRows((on, name: string, change: RevisionChange) =>
  on
    .updateTable('menu_revisions')
    .set({ revision: change.revision, changed_by: change.changedBy, changed_at: change.changedAt })
    .where('name', '=', name),
)

/** One statement reads revision and nodes, so that they belong together. An empty tree is one row without a node. */
const listTreeRows = readRows((on, name: string) =>
  on
    .selectFrom('menu_revisions')
    .leftJoin('menus', (join) => join.onTrue())
    .select(['revision', ...menus.all])
    .where('menu_revisions.name', '=', name)
    .$castTo<TreeRow>(),
)

type TreeRow = { revision: number; id: string | null } & Omit<MenuNode, 'id' | 'enabled'> & {
    enabled: number
  }

const listNodesAfter = readRows(
  (on, id: string, limit: number) =>
    on.selectFrom('menus').select(menus.all).where('id', '>', id).orderBy('id').limit(limit),
  menus.decode,
)

export const findNode = readRow((on, id: string) => on.selectFrom('menus').select('id').where('id', '=', id))

export const findChild = readRow((on, id: string) =>
  on.selectFrom('menus').select('id').where('parent_id', '=', id).limit(1),
)

interface RevisionChange {
  readonly revision: number
  readonly changedBy: string
  /** Epoch milliseconds. */
  readonly changedAt: number
}

/**
 * Locks the tree until the end of the transaction, and returns its revision. Every change begins with it: two changes that
 * each are right alone could make a cycle together.
 */
export async function lockRevision(tx: Tx): Promise<number> {
  return (await lockTree(tx, TREE)) ?? 0
}

/** Records a change of the tree; the transaction must have locked it. */
export async function updateRevision(tx: Tx, change: RevisionChange): Promise<void> {
  await setRevision(tx, TREE, change)
}

export async function readTree(queries: Queries): Promise<MenuTree> {
  const rows = await listTreeRows(queries, TREE)
  const nodes = rows.flatMap(({ revision: _, id, ...row }) =>
    id === null ? [] : [{ id, ...menus.decode(row) }],
  )
  return { revision: rows[0]?.revision ?? 0, nodes }
}

/**
 * All nodes, for a transaction that has locked the tree. They are read in parts, because a statement of SQLite blocks the
 * event loop.
 */
export async function readNodes(tx: Tx): Promise<MenuNode[]> {
  const nodes: MenuNode[] = []
  for (;;) {
    const part = await listNodesAfter(tx, nodes.at(-1)?.id ?? '', ROWS_PER_READ)
    nodes.push(...part)
    if (part.length < ROWS_PER_READ) return nodes
  }
}

/** Inserts new nodes and overwrites known ones. A parent must not come after its children. */
export async function writeNodes(tx: Tx, nodes: readonly MenuNode[]): Promise<void> {
  for (const batch of batches(nodes)) {
    await db(tx)
      .insertInto('menus')
      .values(batch.map((node) => menus.values(node)))
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet(({ ref }) => ({
          title: ref('excluded.title'),
          parent_id: ref('excluded.parent_id'),
          path: ref('excluded.path'),
          icon: ref('excluded.icon'),
          position: ref('excluded.position'),
          enabled: ref('excluded.enabled'),
          updated_at: ref('excluded.updated_at'),
        })),
      )
      .execute()
  }
}

/** Deletes nodes. A parent must not come before its children. */
export async function deleteNodes(tx: Tx, ids: readonly string[]): Promise<void> {
  for (const batch of batches(ids)) await db(tx).deleteFrom('menus').where('id', 'in', batch).execute()
}

function batches<T>(rows: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(rows.length / ROWS_PER_STATEMENT) }, (_, index) =>
    rows.slice(index * ROWS_PER_STATEMENT, (index + 1) * ROWS_PER_STATEMENT),
  )
}
