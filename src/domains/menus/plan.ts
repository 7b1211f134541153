import type { ErrorDetail } from '../../kernel/faults.ts'
import { findFault, type EditDraft } from './faults.ts'
import type { PlacedEdit, PlacedItem } from './items.ts'
import { levelsOf } from './levels.ts'
import { HIGHEST_POSITION, orderedNodes, type MenuNode, type MenuOutcome } from './model.ts'

// Some milliseconds of computation.
const ITEMS_PER_STEP = 1_000

/** What an edit does, with the rows that it writes and deletes. */
export interface MenuPlan {
  readonly outcome: MenuOutcome
  /** New and changed nodes: each parent before its children. */
  readonly written: readonly MenuNode[]
  /** Ids: each child before its parent. */
  readonly deleted: readonly string[]
}

/**
 * Judges an edit by the tree that it would lead to, whatever the order of its items: a parent and its child may change
 * places. `nodes` are all nodes of a tree, `at` is the time of the change. A step of the computation takes some milliseconds,
 * and yields the number of nodes that it has passed.
 */
export function* planEdit(
  nodes: readonly MenuNode[],
  { items, replace = false }: PlacedEdit,
  at: number,
): Generator<number, MenuPlan | ErrorDetail> {
  const before = new Map(nodes.map((node) => [node.id, node]))
  yield before.size
  const after = yield* nodesAfter(items, before, { replace, at })
  const levels = levelsOf(after)
  yield after.size
  const draft = { items, before, after, levels }
  return (yield* findFault(draft)) ?? (yield* planOf(draft))
}

function* nodesAfter(
  items: readonly PlacedItem[],
  before: ReadonlyMap<string, MenuNode>,
  { replace, at }: { readonly replace: boolean; readonly at: number },
): Generator<number, Map<string, MenuNode>> {
  const after = new Map(replace ? [] : before)
  yield after.size
  for (const [index, placed] of items.entries()) {
    after.set(placed.item.id, nodeOf(placed, before.get(placed.item.id), at))
    if (index % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield ITEMS_PER_STEP
  }
  const isUnplaced = ({ item: { id, position } }: PlacedItem) => position === undefined && !before.has(id)
  append(after, new Set(items.filter(isUnplaced).map(({ item }) => item.id)))
  yield after.size
  return after
}

/** The node that an item names, as the item wants it. A new one without a position gets it from {@link append}. */
function nodeOf({ item, nestedIn }: PlacedItem, known: MenuNode | undefined, at: number): MenuNode {
  const {
    id,
    title = '',
    parentId = null,
    path = null,
    icon = null,
    position = 0,
    enabled = true,
    createdAt = at,
  } = { ...known, ...item }
  const fields = { title, path, icon, position, enabled }
  const node = { id, parentId: nestedIn ?? parentId, ...fields, createdAt, updatedAt: at }
  return known && !isMoved(known, node) && !isUpdated(known, node) ? known : node
}

/** Puts new nodes behind the last sibling, in the order in which the edit names them. */
function append(after: Map<string, MenuNode>, ids: ReadonlySet<string>): void {
  const last = new Map<string | null, number>()
  for (const { id, parentId, position } of after.values())
    if (!ids.has(id)) last.set(parentId, Math.max(position, last.get(parentId) ?? -1))
  for (const id of ids) {
    const node = after.get(id) as MenuNode
    const position = Math.min((last.get(node.parentId) ?? -1) + 1, HIGHEST_POSITION)
    last.set(node.parentId, position)
    after.set(id, { ...node, position })
  }
}

function* planOf(draft: EditDraft): Generator<number, MenuPlan> {
  const { after, levels } = draft
  const outcome = yield* outcomeOf(draft)
  const { created, updated, moved, deleted } = outcome
  const written = [...new Set([...created, ...updated, ...moved])]
    .toSorted((one, other) => (levels.get(one) ?? 0) - (levels.get(other) ?? 0))
    .flatMap((id) => after.get(id) ?? [])
  return { outcome, written, deleted: deleted.toReversed() }
}

function* outcomeOf({ items, before, after }: EditDraft): Generator<number, MenuOutcome> {
  const named = items.flatMap(({ item: { id } }) => {
    const node = after.get(id)
    return node ? [{ id, node, known: before.get(id) }] : []
  })
  yield named.length
  const idsWhere = (test: (known: MenuNode, node: MenuNode) => boolean) =>
    named.flatMap(({ id, known, node }) => (known && test(known, node) ? [id] : []))
  const outcome = {
    created: named.flatMap(({ id, known }) => (known ? [] : [id])),
    updated: idsWhere(isUpdated),
    moved: idsWhere(isMoved),
    unchanged: idsWhere((known, node) => known === node),
  }
  yield named.length
  const deleted = orderedNodes([...before.values()]).flatMap(({ id }) => (after.has(id) ? [] : [id]))
  yield before.size
  return { ...outcome, deleted }
}

function isMoved(known: MenuNode, node: MenuNode): boolean {
  return known.parentId !== node.parentId
}

const FIELDS = ['title', 'path', 'icon', 'enabled'] as const

/** A node that is moved has another position, whatever its number. */
function isUpdated(known: MenuNode, node: MenuNode): boolean {
  const isReordered = known.position !== node.position && !isMoved(known, node)
  return isReordered || FIELDS.some((name) => known[name] !== node[name])
}
