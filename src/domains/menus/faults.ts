import { fieldFault, type ErrorDetail } from '../../kernel/faults.ts'
import type { PlacedItem } from './items.ts'
import { LEVEL_LIMIT, NODE_LIMIT, TEXT_LIMIT, type MenuNode } from './model.ts'

/** An edit and what it would lead to, which need not be a tree. */
export interface EditDraft {
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
export function* findFault(draft: EditDraft): Generator<number, ErrorDetail | undefined> {
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

/** Only an edit that replaces deletes nodes, and it names all the others. So the node of a missing parent is named. */
function parentExists({ items, before, after }: EditDraft): ErrorDetail | undefined {
  for (const each of items) {
    const parentId = after.get(each.item.id)?.parentId ?? null
    if (parentId === null || after.has(parentId)) continue
    const code = before.has(parentId) ? 'menu_deleted_parent' : 'menu_unknown_parent'
    return fieldFault(each.path, code, { parent: parentId })
  }
  return undefined
}

/** There was no cycle before, so one of its nodes is named. */
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
  if (bytes <= TEXT_LIMIT || bytes <= textOf(before)) return undefined
  return fieldFault('items', 'menu_too_much_text', { maximum: `${TEXT_LIMIT / 1_048_576} MiB` })
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
  if (most <= TEXT_LIMIT) return most
  let bytes = 0
  for (const node of nodes.values()) bytes += Buffer.byteLength(JSON.stringify(textsOf(node)))
  return bytes
}

function textsOf({ id, title, parentId, path, icon }: MenuNode): readonly (string | null)[] {
  return [id, title, parentId, path, icon]
}
