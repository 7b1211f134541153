import type { AnswerOf, BodyOf } from '../../../api/operations.ts'
import type { Draft } from './kept-draft.ts'
import { branchIds, childrenOf, type MenuNode, type MenuNodes } from './tree.ts'

export type MenuEdit = Pick<BodyOf<'editMenus'>, 'items' | 'replace'>

const FIELDS = ['title', 'parent_id', 'path', 'icon', 'position', 'enabled'] as const

/** The fields of a node that differ; all of them if there was no such node. */
function changedFields(before: MenuNode | undefined, after: MenuNode): Partial<MenuNode> {
  const changed = FIELDS.filter((name) => before?.[name] !== after[name])
  return Object.fromEntries(changed.map((name) => [name, after[name]]))
}

function byId(nodes: MenuNodes): ReadonlyMap<string, MenuNode> {
  return new Map(nodes.map((node) => [node.id, node]))
}

function missingIds(from: MenuNodes, nodes: MenuNodes): readonly string[] {
  const present = byId(nodes)
  return from.map(({ id }) => id).filter((id) => !present.has(id))
}

/** The request that leads from one tree to the other. Only an edit that names every other node can delete some. */
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
  before: MenuNodes,
  draft: Pick<Draft, 'nodes' | 'moved'>,
): Outcome {
  const reordered = reorderedIds(before, draft.nodes)
  return {
    created,
    updated: updated.filter((id) => !reordered.has(id)),
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
