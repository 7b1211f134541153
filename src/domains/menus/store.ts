import { lockRows } from '../../store/locking.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import type { MenuNode, MenuTree } from './model.ts'
import { db, menus, statement } from './tables.ts'

// The one row of menu_revisions.
const TREE = { name: 'shop' }
// A statement of SQLite holds the event loop: so few rows take a millisecond or two, the building of the statement included.
const ROWS_PER_STATEMENT = 50
const ROWS_PER_READ = 1_000

const lock = statement<{ name: string }, { revision: number }>((on, value, capabilities) =>
  on
    .selectFrom('menu_revisions')
    .select('revision')
    .where('name', '=', value('name'))
    .$call(lockRows(capabilities)),
)

const setRevision = statement<RevisionChange & { name: string }>((on, value) =>
  on
    .updateTable('menu_revisions')
    .set({ revision: value('revision'), changed_by: value('changedBy'), changed_at: value('changedAt') })
    .where('name', '=', value('name')),
)

/** One statement reads revision and nodes, so that they belong together. An empty tree is one row without a node. */
const tree = statement<{ name: string }, StoredNode>((on, value) =>
  on
    .selectFrom('menu_revisions')
    .leftJoin('menus', (join) => join.onTrue())
    .select(['revision', ...menus.all])
    .where('menu_revisions.name', '=', value('name'))
    .$castTo<StoredNode>(),
)

const nodesBehind = statement<{ id: string; limit: number }, StoredRow>((on, value) =>
  on
    .selectFrom('menus')
    .select(menus.all)
    .where('id', '>', value('id'))
    .orderBy('id')
    .limit(value('limit'))
    .$castTo<StoredRow>(),
)

type StoredRow = Omit<MenuNode, 'enabled'> & { enabled: number }
type StoredNode = { revision: number; id: string | null } & Omit<MenuNode, 'id' | 'enabled'> & {
    enabled: number
  }

const find = statement<{ id: string }, { id: string }>((on, value) =>
  on.selectFrom('menus').select('id').where('id', '=', value('id')),
)

const findChild = statement<{ id: string }, { id: string }>((on, value) =>
  on.selectFrom('menus').select('id').where('parent_id', '=', value('id')).limit(1),
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
  return (await first(tx, lock, TREE))?.revision ?? 0
}

/** Records a change of the tree; the transaction must have locked it. */
export async function updateRevision(tx: Tx, change: RevisionChange): Promise<void> {
  await tx.change(setRevision, { ...TREE, ...change })
}

export async function readTree(queries: Queries): Promise<MenuTree> {
  const rows = await queries.run(tree, TREE)
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
    const rows = await tx.run(nodesBehind, { id: nodes.at(-1)?.id ?? '', limit: ROWS_PER_READ })
    nodes.push(...rows.map(menus.decode))
    if (rows.length < ROWS_PER_READ) return nodes
  }
}

export async function hasNode(queries: Queries, id: string): Promise<boolean> {
  return (await first(queries, find, { id })) !== undefined
}

export async function hasChildren(queries: Queries, id: string): Promise<boolean> {
  return (await first(queries, findChild, { id })) !== undefined
}

/** Inserts new nodes and overwrites known ones. A parent must not come after its children. */
export async function writeNodes(tx: Tx, nodes: readonly MenuNode[]): Promise<void> {
  for (const batch of batches(nodes)) {
    await db(tx)
      .insertInto('menus')
      .values(batch.map((node) => menus.values((name) => node[name])))
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
