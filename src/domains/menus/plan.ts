import { fieldFault, type ErrorDetail } from '../../kernel/errors.ts'
import type { PlacedEdit, PlacedItem } from './items.ts'
import {
  HIGHEST_POSITION,
  orderedNodes,
  LEVEL_LIMIT,
  NODE_LIMIT,
  TEXT_LIMIT_BYTES,
  type MenuNode,
  type MenuOutcome,
} from './model.ts'

// Some milliseconds of computation.
const ITEMS_PER_STEP = 1_000

/** The effect of an edit, with the rows that it writes and deletes. */
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
  const after = yield* nodesAfter(items, before, replace, at)
  const levels = levelsOf(after)
  yield after.size
  const draft = { items, before, after, levels }
  return (yield* findFault(draft)) ?? (yield* planOf(draft))
}

function* nodesAfter(
  items: readonly PlacedItem[],
  before: ReadonlyMap<string, MenuNode>,
  replace: boolean,
  at: number,
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

/** The level of each node, 1 at the top. A node on a cycle, or below one, has none; neither has one below a missing parent. */
export function levelsOf(nodes: ReadonlyMap<string, MenuNode>): Map<string, number> {
  const children = Map.groupBy(nodes.values(), ({ parentId }) => parentId)
  const levels = new Map<string, number>()
  let level = 1
  for (let row = children.get(null) ?? []; row.length > 0; level++) {
    for (const { id } of row) levels.set(id, level)
    row = row.flatMap(({ id }) => children.get(id) ?? [])
  }
  return levels
}

/** An edit and what it would lead to, which need not be a tree. */
interface EditDraft {
  readonly items: readonly PlacedItem[]
  readonly before: ReadonlyMap<string, MenuNode>
  readonly after: ReadonlyMap<string, MenuNode>
  /** Level of each node after the edit; see `levelsOf`. */
  readonly levels: ReadonlyMap<string, number>
}

type Rule = (draft: EditDraft) => ErrorDetail | undefined

/** The rules of an edit. Each one relies on the ones before it; the first that is broken refuses the edit. */
const RULES: readonly Rule[] = [
  idIsNamedOnce,
  parentsAgree,
  newNodeHasTitle,
  parentExists,
  hasNoCycle,
  isNotTooDeep,
  isNotTooLarge,
  hasNotTooMuchText,
]

/** Undefined when the edit leads to a tree within the limits. Each rule is a step, which passes all items and nodes. */
function* findFault(draft: EditDraft): Generator<number, ErrorDetail | undefined> {
  for (const rule of RULES) {
    const found = rule(draft)
    if (found) return found
    yield draft.items.length + draft.after.size
  }
  return undefined
}

function idIsNamedOnce({ items }: EditDraft): ErrorDetail | undefined {
  const named = new Set<string>()
  const duplicate = items.find(({ item: { id } }) => {
    if (named.has(id)) return true
    named.add(id)
    return false
  })
  return duplicate && fieldFault(duplicate.path, 'menu_duplicate_id', { id: duplicate.item.id })
}

function parentsAgree({ items }: EditDraft): ErrorDetail | undefined {
  const different = items.find(
    ({ item: { parentId }, nestedIn }) =>
      nestedIn !== undefined && parentId !== undefined && parentId !== nestedIn,
  )
  return (
    different &&
    fieldFault(different.path, 'menu_two_parents', {
      outer: String(different.nestedIn),
      parent: String(different.item.parentId),
    })
  )
}

function newNodeHasTitle({ items, before }: EditDraft): ErrorDetail | undefined {
  const untitled = items.find(({ item: { id, title } }) => title === undefined && !before.has(id))
  return untitled && fieldFault(`${untitled.path}.title`, 'required')
}

/**
 * Refuses a parent that does not exist. Only an edit with `replace` deletes nodes, and it names all others, so the child of
 * a deleted node is always named.
 */
function parentExists({ items, before, after }: EditDraft): ErrorDetail | undefined {
  for (const each of items) {
    const parentId = after.get(each.item.id)?.parentId ?? null
    if (parentId === null || after.has(parentId)) continue
    const code = before.has(parentId) ? 'menu_deleted_parent' : 'menu_unknown_parent'
    return fieldFault(each.path, code, { parent: parentId })
  }
  return undefined
}

/** Refuses a cycle. The tree had none before, so each cycle contains a named node. */
function hasNoCycle({ items, after, levels }: EditDraft): ErrorDetail | undefined {
  const lost = items.find(({ item: { id } }) => !levels.has(id))
  if (!lost) return undefined
  const loop = loopAbove(lost.item.id, after)
  const onLoop = new Set(loop)
  const first = items.find(({ item: { id } }) => onLoop.has(id)) ?? lost
  return fieldFault(first.path, 'menu_cycle', { loop: shownLoop(loop) })
}

/** The ids of the cycle that the parents of a node lead to. */
function loopAbove(id: string, nodes: ReadonlyMap<string, MenuNode>): string[] {
  const passed = new Set<string>()
  let at = id
  while (!passed.has(at)) {
    passed.add(at)
    at = nodes.get(at)?.parentId ?? at
  }
  const ids = [...passed]
  return ids.slice(ids.indexOf(at))
}

const SHOWN_LOOP = 8

function shownLoop(loop: readonly string[]): string {
  const shown = loop.length > SHOWN_LOOP ? [...loop.slice(0, SHOWN_LOOP), '…'] : loop
  return [...shown, loop[0]].join(' → ')
}

function isNotTooDeep(draft: EditDraft): ErrorDetail | undefined {
  const { items, after, levels } = draft
  const causes = new Map<string, MenuNode>()
  for (const [id, level] of levels) {
    const node = level > LEVEL_LIMIT ? after.get(id) : undefined
    if (node) causes.set(nearestPlaced(node, draft), node)
  }
  const cause = causes.size > 0 && items.find(({ item: { id } }) => causes.has(id))
  if (!cause) return undefined
  const deepest = String(causes.get(cause.item.id)?.id)
  return fieldFault(cause.path, 'menu_too_deep', { id: deepest, maximum: LEVEL_LIMIT })
}

/** The id of the node, or of the nearest node above it, that is new or has another parent. */
function nearestPlaced(node: MenuNode, { before, after }: EditDraft): string {
  let at = node
  while (before.get(at.id)?.parentId === at.parentId && at.parentId !== null)
    at = after.get(at.parentId) ?? at
  return at.id
}

function isNotTooLarge({ items, before, after }: EditDraft): ErrorDetail | undefined {
  const excess = after.size - NODE_LIMIT
  if (excess <= 0) return undefined
  const created = items.filter(({ item: { id } }) => !before.has(id))
  const first = created.at(-excess)
  return first && fieldFault(first.path, 'menu_too_many', { maximum: NODE_LIMIT })
}

/** A tree of an earlier release may have more; it must not grow then. */
function hasNotTooMuchText({ before, after }: EditDraft): ErrorDetail | undefined {
  const bytes = textOf(after)
  if (bytes <= TEXT_LIMIT_BYTES || bytes <= textOf(before)) return undefined
  return fieldFault('items', 'menu_too_much_text', { maximum: `${TEXT_LIMIT_BYTES / 1_048_576} MiB` })
}

// A character has at most six bytes in JSON (`\\u0001`), and a text two quotation marks.
const BYTES_PER_CHARACTER = 6
const QUOTES_PER_NODE = 10

/** The bytes that the texts of the nodes have in JSON; more than that while it is below the limit in any case. */
function textOf(nodes: ReadonlyMap<string, MenuNode>): number {
  let most = 0
  for (const node of nodes.values())
    for (const text of textsOf(node)) most += (text?.length ?? 0) * BYTES_PER_CHARACTER
  most += nodes.size * QUOTES_PER_NODE
  if (most <= TEXT_LIMIT_BYTES) return most
  let bytes = 0
  for (const node of nodes.values()) bytes += Buffer.byteLength(JSON.stringify(textsOf(node)))
  return bytes
}

function textsOf({ id, title, parentId, path, icon }: MenuNode): readonly (string | null)[] {
  return [id, title, parentId, path, icon]
}
