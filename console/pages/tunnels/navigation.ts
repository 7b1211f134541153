import type { PlacedNode } from './placed.ts'

/** What the arrow keys do in a tree (WAI-ARIA, tree view): the key of the node to go to, or what to do with this one. */
export type Step = { readonly go: string } | 'select' | 'none'

type TreeNode = Pick<PlacedNode, 'key' | 'parent'>

const KEYS: Readonly<Record<string, (nodes: readonly TreeNode[], index: number) => Step>> = {
  ArrowDown: (nodes, index) => goTo(nodes[index + 1]),
  ArrowUp: (nodes, index) => goTo(nodes[index - 1]),
  ArrowRight: (nodes, index) =>
    goTo(
      nodes.find(({ parent }) => parent === nodes[index]?.key),
      'select',
    ),
  ArrowLeft: (nodes, index) => goTo(nodes.find(({ key }) => key === nodes[index]?.parent)),
  Home: (nodes) => goTo(nodes[0]),
  End: (nodes) => goTo(nodes.at(-1)),
  Enter: () => 'select',
  ' ': () => 'select',
}

/** The step of a pressed key from the node with this key; `none` for every other key. */
export function stepFor(pressed: string, nodes: readonly TreeNode[], current: string): Step {
  const index = nodes.findIndex(({ key }) => key === current)
  return KEYS[pressed]?.(nodes, index) ?? 'none'
}

function goTo(node: TreeNode | undefined, otherwise: Step = 'none'): Step {
  return node ? { go: node.key } : otherwise
}

/** The nodes from this one up to its gateway, and everything below it: what belongs together in the picture. */
export function relatives(nodes: readonly TreeNode[], key: string): ReadonlySet<string> {
  const parents = new Map(nodes.map((node) => [node.key, node.parent]))
  const up: string[] = []
  for (let ancestor: string | null | undefined = key; ancestor; ancestor = parents.get(ancestor))
    up.push(ancestor)
  const related = new Set(up)
  const below = new Set([key])
  // A parent stands before its children.
  for (const node of nodes) {
    if (node.parent !== null && below.has(node.parent)) below.add(node.key)
  }
  return related.union(below)
}
