import { Conflict, type ConflictField } from '../../../parts/conflict.tsx'
import { changedIds } from './draft.ts'
import { placeText } from './place-text.ts'
import type { MenuNodes } from './tree.ts'
import type { DraftProps } from './use-menu-draft.ts'
import { menuWords } from './words.ts'

/** Both versions of what differs, after another change was quicker. */
export function MenuConflict({ draft, current }: DraftProps) {
  if (!draft.isConflict) return null
  return (
    <Conflict
      fields={changedIds(draft.nodes, current).flatMap((id) => differenceOf(id, draft.nodes, current))}
      onKeep={draft.discard}
      onApply={draft.rebaseDraft}
    />
  )
}

function differenceOf(id: string, mine: MenuNodes, current: MenuNodes): ConflictField[] {
  const yours = describeNode(mine, id)
  const theirs = describeNode(current, id)
  return yours === theirs ? [] : [{ name: id, yours, theirs }]
}

/** A node in one line: where it is, its path, and whether it is hidden. */
function describeNode(nodes: MenuNodes, id: string): string {
  const words = menuWords()
  const node = nodes.find((each) => each.id === id)
  if (!node) return words.gone
  const { path, icon, enabled } = node
  return [placeText(nodes, id), path, icon, enabled ? null : words.hidden].filter(Boolean).join(' · ')
}
