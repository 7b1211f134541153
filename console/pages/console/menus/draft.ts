import type { AnswerOf, BodyOf } from '../../../api/operations.ts'
import type { Draft } from './kept-draft.ts'
import { branchIds, childrenOf, rowsOf, type MenuNode, type MenuNodes } from './tree.ts'

export type MenuEdit = Pick<BodyOf<'editMenus'>, 'items' | 'replace'>

const FIELDS = ['title', 'parent_id', 'path', 'icon', 'position', 'enabled'] as const

/** The fields of a node that differ; all of them if there was no such node. */
export function changedFields(before: MenuNode | undefined, after: MenuNode): Partial<MenuNode> {
  const changed = FIELDS.filter((name) => before?.[name] !== after[name])
  return Object.fromEntries(changed.map((name) => [name, after[name]]))
}

export function byId(nodes: MenuNodes): ReadonlyMap<string, MenuNode> {
  return new Map(nodes.map((node) => [node.id, node]))
}

function missingIds(from: MenuNodes, nodes: MenuNodes): readonly string[] {
  const present = byId(nodes)
  return from.map(({ id }) => id).filter((id) => !present.has(id))
}

/** The request that changes one tree into the other. An edit can only delete nodes if it names all others. */
export function editOf(base: MenuNodes, draft: MenuNodes): MenuEdit {
  const before = byId(base)
  const items = draft.map((node) => ({ id: node.id, ...changedFields(before.get(node.id), node) }))
  if (missingIds(base, draft).length > 0) return { items, replace: true }
  return { items: items.filter((item) => Object.keys(item).length > 1) }
}

/** The ids of the nodes that differ. */
export function changedIds(base: MenuNodes, draft: MenuNodes): readonly string[] {
  const before = byId(base)
  const changed = draft.filter((node) => Object.keys(changedFields(before.get(node.id), node)).length > 0)
  return [...changed.map(({ id }) => id), ...missingIds(base, draft)]
}

/** The changes of a draft, made to the tree as it is now. */
export function rebase(base: MenuNodes, draft: MenuNodes, current: MenuNodes): MenuNodes {
  return withReachablePlaces(merge(base, draft, current), byId(current))
}

function merge(base: MenuNodes, draft: MenuNodes, current: MenuNodes): MenuNodes {
  const before = byId(base)
  const wanted = byId(draft)
  const deleted = new Set(missingIds(base, draft))
  const known = byId(current)
  const kept = current
    .filter(({ id }) => !deleted.has(id))
    .map((node) => {
      const mine = wanted.get(node.id)
      return mine ? { ...node, ...changedFields(before.get(node.id), mine) } : node
    })
  const created = draft.filter(({ id }) => !before.has(id) && !known.has(id))
  return [...kept, ...created]
}

/** A version of the tree. */
export interface TreeVersion {
  readonly nodes: MenuNodes
  readonly etag: string | null
}

/** A draft that changes nothing yet. */
export function draftOf({ nodes, etag }: TreeVersion): Draft {
  return { base: nodes, etag, nodes, moved: new Set() }
}

export function isChanged({ base, nodes }: Draft): boolean {
  return changedIds(base, nodes).length > 0
}

/** `moved` is the id of the node that has another place in these nodes. */
export function withNodes(draft: Draft, nodes: MenuNodes, moved?: string): Draft {
  return { ...draft, nodes, moved: moved === undefined ? draft.moved : new Set([...draft.moved, moved]) }
}

/** The changes of a draft, made to another version. */
export function rebaseDraft({ base, nodes, moved }: Draft, current: TreeVersion): Draft {
  return { base: current.nodes, etag: current.etag, nodes: rebase(base, nodes, current.nodes), moved }
}

/** The nodes with each one in the tree: where its parent is gone, or is below it, it stays in its current place. */
function withReachablePlaces(nodes: MenuNodes, current: ReadonlyMap<string, MenuNode>): MenuNodes {
  const reached = new Set(rowsOf(nodes).map(({ node }) => node.id))
  const present = byId(nodes)
  const lost = nodes.find(({ id, parent_id }) => {
    if (reached.has(id) || parent_id === null) return false
    return !present.has(parent_id) || parent_id !== current.get(id)?.parent_id
  })
  if (!lost) return nodes
  return withReachablePlaces(
    nodes.map((node) => (node === lost ? inPlaceOf(current.get(node.id), node, present) : node)),
    current,
  )
}

function inPlaceOf(
  theirs: MenuNode | undefined,
  node: MenuNode,
  present: ReadonlyMap<string, MenuNode>,
): MenuNode {
  const { parent_id, position } = theirs ?? node
  return { ...node, parent_id: parent_id !== null && present.has(parent_id) ? parent_id : null, position }
}

/** The tree without a node and what is below it. */
export function withoutBranch(nodes: MenuNodes, id: string): MenuNodes {
  const removed = branchIds(nodes, id)
  return nodes.filter((node) => !removed.has(node.id))
}

/** The tree with a node as the last child of its parent. */
export function withNode(nodes: MenuNodes, node: Omit<MenuNode, 'position'>): MenuNodes {
  const last = childrenOf(nodes, node.parent_id).at(-1)?.position ?? 0
  return [...nodes, { ...node, position: last + 1 }]
}

type Outcome = Pick<AnswerOf<'editMenus'>, 'created' | 'updated' | 'moved' | 'deleted'>

/** The changes by which people know a draft: without the siblings that only make room for a node that was moved. */
export function namedChanges(
  { created, updated, moved, deleted }: Outcome,
  draft: Pick<Draft, 'base' | 'nodes' | 'moved'>,
): Outcome {
  const reordered = reorderedIds(draft.base, draft.nodes)
  const isMoved = new Set(moved)
  return {
    created,
    updated: updated.filter((id) => !reordered.has(id) && !isMoved.has(id)),
    moved: [...moved, ...updated.filter((id) => reordered.has(id) && draft.moved.has(id))],
    deleted,
  }
}

/** The ids of the nodes that differ in nothing but their position. */
function reorderedIds(before: MenuNodes, after: MenuNodes): ReadonlySet<string> {
  const known = byId(before)
  const reordered = after.filter((node) => {
    return Object.keys(changedFields(known.get(node.id), node)).join() === 'position'
  })
  return new Set(reordered.map(({ id }) => id))
}
