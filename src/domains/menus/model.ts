/** Nodes on the longest way from the top to a leaf (docs/specification.md, Menus). */
export const LEVEL_LIMIT = 8
/** Nodes of the whole tree (docs/specification.md, Menus). */
export const NODE_LIMIT = 10_000
/** Bytes of all texts of the tree as JSON, so that a response has at most 8 MiB (docs/specification.md, Menus). */
export const TEXT_LIMIT_BYTES = 6 * 1_048_576
/** docs/specification.md, Menus */
export const HIGHEST_POSITION = 1_000_000

export interface MenuNode {
  readonly id: string
  readonly title: string
  /** Null at the top. */
  readonly parentId: string | null
  readonly path: string | null
  readonly icon: string | null
  /** Sorts the children of one parent; children with equal positions are sorted by their ids. */
  readonly position: number
  readonly enabled: boolean
  /** All times are epoch milliseconds, UTC. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** A node with all that is below it. */
export interface MenuBranch extends MenuNode {
  readonly children: readonly MenuBranch[]
}

/** All nodes, in no order, with the number of changes that led to them. */
export interface MenuTree {
  readonly revision: number
  readonly nodes: readonly MenuNode[]
}

/** What a client sends of a node; a field that is left out keeps its value. */
export interface MenuItem {
  readonly id: string
  readonly title?: string
  readonly parentId?: string | null
  readonly path?: string | null
  readonly icon?: string | null
  readonly position?: number
  readonly enabled?: boolean
  /** Their parent is this item. */
  readonly children?: readonly MenuItem[]
}

/** What a client sends to change the tree. */
export interface MenuEdit {
  readonly items: readonly MenuItem[]
  /** Deletes the nodes that no item names. */
  readonly replace?: boolean
  /** Changes nothing; the answer is the same. */
  readonly dryRun?: boolean
}

/** The ids of the nodes that an edit names or deletes, by what it does to them. */
export interface MenuOutcome {
  readonly created: readonly string[]
  /** Another title, path, icon or enabled; or another position under the same parent. */
  readonly updated: readonly string[]
  /** Another parent. Such a node may be among the updated ones, too. */
  readonly moved: readonly string[]
  readonly unchanged: readonly string[]
  /** Each parent before its children. */
  readonly deleted: readonly string[]
}

/** The outcome of a change, and the revision that it has led to. */
export interface MenuChange extends MenuOutcome {
  readonly revision: number
}

/** The nodes as a tree. */
export function branchesOf(nodes: readonly MenuNode[]): MenuBranch[] {
  const siblings = siblingsByParent(nodes)
  const childrenOf = (parentId: string | null): MenuBranch[] =>
    (siblings.get(parentId) ?? []).map((node) => ({ ...node, children: childrenOf(node.id) }))
  return childrenOf(null)
}

/** The nodes of the same tree as a list: each parent before its children. */
export function orderedNodes(nodes: readonly MenuNode[]): MenuNode[] {
  const siblings = siblingsByParent(nodes)
  const descendantsOf = (parentId: string | null): MenuNode[] =>
    (siblings.get(parentId) ?? []).flatMap((node) => [node, ...descendantsOf(node.id)])
  return descendantsOf(null)
}

/** Sorts by position, then by id. */
function siblingsByParent(nodes: readonly MenuNode[]): Map<string | null, MenuNode[]> {
  const siblings = Map.groupBy(nodes, ({ parentId }) => parentId)
  for (const each of siblings.values()) each.sort(byPosition)
  return siblings
}

function byPosition(one: MenuNode, other: MenuNode): number {
  if (one.position !== other.position) return one.position - other.position
  return one.id < other.id ? -1 : 1
}

/** docs/specification.md, Events */
export const MENU_EVENTS = { changed: 'menu.changed' } as const

/** The object of every event of the tree. */
export const TREE_ID = 'menus'

/** What a change did, in its event. */
export interface MenuEventData extends Omit<MenuChange, 'unchanged'> {
  /** Set if ids were left out. */
  readonly truncated?: true
}

// The bus refuses a message of more than 1 MiB (the default of NATS). 10,000 deleted and 10,000 created ids may have more.
const EVENT_ID_BYTES = 768 * 1024
const QUOTES_AND_COMMA = 3

/** The change with as many ids as fit into an event. */
export function menuEventData({ revision, created, updated, moved, deleted }: MenuChange): MenuEventData {
  let leftBytes = EVENT_ID_BYTES
  const takeWhatFits = (ids: readonly string[]) =>
    ids.filter((id) => (leftBytes -= id.length + QUOTES_AND_COMMA) >= 0)
  const data = {
    revision,
    created: takeWhatFits(created),
    updated: takeWhatFits(updated),
    moved: takeWhatFits(moved),
    deleted: takeWhatFits(deleted),
  }
  return leftBytes < 0 ? { ...data, truncated: true } : data
}
