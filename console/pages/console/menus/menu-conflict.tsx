import { localNumber } from '../../../i18n/local.ts'
import { Conflict, type ConflictField } from '../../../parts/conflict.tsx'
import { changedIds } from './draft.ts'
import { rowsOf, titlesTo, type MenuNodes } from './tree.ts'
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
  const row = rowsOf(nodes).find(({ node }) => node.id === id)
  if (!row) return words.gone
  const { path, icon, enabled } = row.node
  const place = words.place(titlesTo(nodes, id).join(' › '), localNumber(row.index + 1))
  return [place, path, icon, enabled ? null : words.hidden].filter(Boolean).join(' · ')
}
