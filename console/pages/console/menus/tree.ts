import type { AnswerOf } from '../../../api/operations.ts'

export type MenuTree = AnswerOf<'getMenus'>

/** What a draft may change of a menu. */
export type MenuNode = Pick<
  MenuTree['items'][number],
  'id' | 'title' | 'parent_id' | 'path' | 'icon' | 'position' | 'enabled'
>
export type MenuNodes = readonly MenuNode[]

/** A line of the tree. */
export interface MenuRow {
  readonly node: MenuNode
  /** 1 at the top. */
  readonly level: number
  /** Among its siblings, from 0. */
  readonly index: number
  /** How many siblings there are, with this one. */
  readonly count: number
}

export interface MenuPlace {
  readonly parent_id: string | null
  readonly index: number
}

export type MenuMove = 'up' | 'down' | 'in' | 'out'

export function nodeWithId(nodes: MenuNodes, id: string): MenuNode | undefined {
  return nodes.find((node) => node.id === id)
}

/** The children of one parent in their order (docs/specification.md, Menus). */
export function childrenOf(nodes: MenuNodes, parentId: string | null): MenuNodes {
  return nodes
    .filter(({ parent_id }) => parent_id === parentId)
    .toSorted((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1))
}

/** The tree as lines: each parent before its children. */
export function rowsOf(nodes: MenuNodes, parentId: string | null = null, level = 1): MenuRow[] {
  const siblings = childrenOf(nodes, parentId)
  return siblings.flatMap((node, index) => [
    { node, level, index, count: siblings.length },
    ...rowsOf(nodes, node.id, level + 1),
  ])
}

/** The ids of a node and of all that is below it. */
export function branchIds(nodes: MenuNodes, id: string): ReadonlySet<string> {
  return new Set([id, ...rowsOf(nodes, id).map(({ node }) => node.id)])
}

/** How many levels a tree has at most (docs/specification.md, Menus). */
export const MOST_LEVELS = 8

/** How many levels a node has with all that is below it. */
export function heightOf(nodes: MenuNodes, id: string): number {
  return 1 + Math.max(0, ...rowsOf(nodes, id).map(({ level }) => level))
}

/** Whether the levels of a node fit below this parent. */
function fitsBelow(nodes: MenuNodes, id: string, parentId: string): boolean {
  return titlesTo(nodes, parentId).length + heightOf(nodes, id) <= MOST_LEVELS
}

/** Where a move leads to; null if the node cannot move there. */
export function placeAfter(nodes: MenuNodes, id: string, move: MenuMove): MenuPlace | null {
  const node = nodeWithId(nodes, id)
  if (!node) return null
  const { parent_id } = node
  const siblings = childrenOf(nodes, parent_id)
  const index = siblings.findIndex((node) => node.id === id)
  const before = siblings[index - 1]
  switch (move) {
    case 'up':
      return before ? { parent_id, index: index - 1 } : null
    case 'down':
      return index + 1 < siblings.length ? { parent_id, index: index + 1 } : null
    case 'in':
      return before && fitsBelow(nodes, id, before.id)
        ? { parent_id: before.id, index: childrenOf(nodes, before.id).length }
        : null
    case 'out':
      return parent_id === null ? null : placeBehind(nodes, parent_id)
  }
}

function placeBehind(nodes: MenuNodes, id: string): MenuPlace {
  const parentId = nodeWithId(nodes, id)?.parent_id ?? null
  const index = childrenOf(nodes, parentId).findIndex((node) => node.id === id)
  return { parent_id: parentId, index: index + 1 }
}

/**
 * Moves a node; `index` counts the new siblings without it. Positions of siblings change only as far as they must. The
 * nodes stay unchanged if the new parent is below the node, or too deep.
 */
export function moveNode(nodes: MenuNodes, id: string, { parent_id, index }: MenuPlace): MenuNodes {
  const node = nodeWithId(nodes, id)
  if (!node || !isPossible(nodes, node, parent_id)) return nodes
  const others = nodes.filter((node) => node.id !== id)
  const siblings = childrenOf(others, parent_id)
  const ordered = siblings.toSpliced(index, 0, { ...node, parent_id })
  const before =
    node.parent_id === parent_id ? childrenOf(nodes, parent_id) : withPlace(siblings, node, index)
  const positions = makeIncreasing(before.map(({ position }) => position))
  const placed = new Map(
    ordered.map((node, place) => [node.id, { ...node, position: positions[place] ?? 0 }] as const),
  )
  return nodes.map((node) => placed.get(node.id) ?? node)
}

/** Whether a node may have this parent; the present one stays possible, whatever is below the node. */
function isPossible(nodes: MenuNodes, { id, parent_id }: MenuNode, parentId: string | null): boolean {
  if (parentId === null || parentId === parent_id) return true
  return !branchIds(nodes, id).has(parentId) && fitsBelow(nodes, id, parentId)
}

/** The siblings with a new one at this index; its position follows that of the sibling before it. */
function withPlace(siblings: MenuNodes, node: MenuNode, index: number): MenuNodes {
  const position = (siblings[index - 1]?.position ?? -1) + 1
  return siblings.toSpliced(index, 0, { ...node, position })
}

/** Raises each number as little as possible, so that it exceeds the one before it. */
function makeIncreasing(numbers: readonly number[]): readonly number[] {
  let last = -1
  return numbers.map((number) => (last = Math.max(number, last + 1)))
}

/** The place of a node as people read it: the titles from the top to it. */
export function titlesTo(nodes: MenuNodes, id: string): readonly string[] {
  const node = nodeWithId(nodes, id)
  if (!node) return []
  return [...(node.parent_id === null ? [] : titlesTo(nodes, node.parent_id)), node.title]
}
