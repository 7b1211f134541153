import { byId, changedFields, changedIds } from './draft.ts'
import type { Draft } from './kept-draft.ts'
import type { MenuNode, MenuNodes } from './tree.ts'

/** The fields of a node besides its place. */
export const NODE_FIELDS = ['title', 'path', 'icon', 'enabled'] as const

/** What a draft changes of a node: one field, its place, or the whole node if it creates or deletes it. */
export type Aspect = (typeof NODE_FIELDS)[number] | 'place' | 'node'

/** A change of the draft that the current tree does not have. */
export interface Difference {
  readonly id: string
  readonly aspect: Aspect
  /** Whether the other user changed the same thing. */
  readonly isChangedByBoth: boolean
}

/** The changes of a draft that the current tree does not have yet. Changes that only other users made are not listed. */
export function differencesOf(draft: Draft, current: MenuNodes): readonly Difference[] {
  const [before, mine, theirs] = [byId(draft.base), byId(draft.nodes), byId(current)]
  return changedIds(draft.base, draft.nodes).flatMap((id) => {
    const versions = { id, before: before.get(id), mine: mine.get(id), theirs: theirs.get(id) }
    return nodeDifferences(versions, draft.moved.has(id))
  })
}

/** A node in the version from which the draft comes, in the draft, and in the current tree. */
interface Versions {
  readonly id: string
  readonly before: MenuNode | undefined
  readonly mine: MenuNode | undefined
  readonly theirs: MenuNode | undefined
}

function nodeDifferences(versions: Versions, isMoved: boolean): readonly Difference[] {
  const { id, before, mine, theirs } = versions
  if (!before || !mine) return wholeDifference(versions)
  // The place is compared for a moved node only: siblings that make room for it have another position, too.
  const aspects = isMoved ? [...NODE_FIELDS, 'place' as const] : NODE_FIELDS
  const touched = aspects.filter((aspect) => !isSame(aspect, before, mine))
  if (!theirs) return touched.length > 0 ? [{ id, aspect: 'node', isChangedByBoth: true }] : []
  return touched
    .filter((aspect) => !isSame(aspect, mine, theirs))
    .map((aspect) => ({ id, aspect, isChangedByBoth: !isSame(aspect, before, theirs) }))
}

function isSame(aspect: Exclude<Aspect, 'node'>, one: MenuNode, other: MenuNode): boolean {
  if (aspect !== 'place') return one[aspect] === other[aspect]
  return one.parent_id === other.parent_id && one.position === other.position
}

/** The difference for a node that the draft creates or deletes. */
function wholeDifference({ id, before, mine, theirs }: Versions): readonly Difference[] {
  if (isSameNode(mine, theirs)) return []
  return [{ id, aspect: 'node', isChangedByBoth: !isSameNode(before, theirs) }]
}

/** Whether two versions of a node differ in their position only. */
function isSameNode(one: MenuNode | undefined, other: MenuNode | undefined): boolean {
  if (!one || !other) return one === other
  return Object.keys(changedFields(one, other)).every((name) => name === 'position')
}
