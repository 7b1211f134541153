import { isolateText } from '../../../i18n/isolate-text.ts'
import { Button } from '../../../parts/button.tsx'
import { Modal } from '../../../parts/modal.tsx'
import { partWords } from '../../../parts/part-words.ts'
import { differencesOf, type Aspect, type Difference } from './differences.ts'
import { byId, isChanged, rebaseDraft, type TreeVersion } from './draft.ts'
import { aspectText, valueText } from './place-text.ts'
import type { MenuNodes } from './tree.ts'
import type { DraftProps } from './use-menu-draft.ts'
import { menuWords } from './words.ts'

export interface MenuConflictProps extends DraftProps {
  /** The version that others saved. */
  readonly current: TreeVersion
  readonly onAdd: () => void
}

/** The changes of the user beside the current version, after another change was quicker. Nothing is lost before a choice. */
export function MenuConflict({ draft, current, onAdd }: MenuConflictProps) {
  const words = menuWords()
  const { conflictTitle, cancel } = partWords()
  const differences = differencesOf(draft, current.nodes)
  const added = rebaseDraft(draft, current)
  return (
    <Modal label={conflictTitle} role="alertdialog" onClose={draft.postpone}>
      <h2 class="modal-title">{conflictTitle}</h2>
      <p>{words.conflictText}</p>
      {differences.some(({ isChangedByBoth }) => isChangedByBoth) && <p>{words.conflictBoth}</p>}
      <DifferenceTable
        differences={differences}
        base={draft.base}
        mine={draft.nodes}
        added={added.nodes}
        current={current.nodes}
      />
      <div class="actions actions-end">
        <Button onClick={draft.postpone}>{cancel}</Button>
        <Button onClick={draft.discard}>{words.discardMine}</Button>
        {isChanged(added) && (
          <Button kind="main" onClick={onAdd}>
            {words.addMine}
          </Button>
        )}
      </div>
    </Modal>
  )
}

interface DifferenceTableProps {
  readonly differences: readonly Difference[]
  /** The version from which the draft comes. */
  readonly base: MenuNodes
  readonly mine: MenuNodes
  /** The current version with the changes of the user. */
  readonly added: MenuNodes
  readonly current: MenuNodes
}

function DifferenceTable({ differences, base, mine, added, current }: DifferenceTableProps) {
  const words = menuWords()
  const { yours, theirs } = partWords()
  return (
    <table class="conflict menu-conflict">
      <thead>
        <tr>
          <th scope="col">{words.menu}</th>
          <th scope="col">{yours}</th>
          <th scope="col">{theirs}</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ id, aspect, isChangedByBoth }) => (
          <tr key={`${id} ${aspect}`}>
            <th scope="row">
              <bdi>{titleOf(id, current, mine)}</bdi>
              <span>{aspectText(aspect)}</span>
            </th>
            <td>
              <bdi>{versionText(base, byId(added).has(id) ? added : mine, id, aspect)}</bdi>
            </td>
            <td>
              <bdi>{versionText(base, current, id, aspect)}</bdi>
              {isChangedByBoth && <span>{words.changedByBoth}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function titleOf(id: string, ...versions: readonly MenuNodes[]): string {
  return versions.map((nodes) => byId(nodes).get(id)?.title).find((title) => title !== undefined) ?? id
}

/** The value of an aspect in a version. A new title follows the former one, by which the user knows the menu. */
function versionText(base: MenuNodes, nodes: MenuNodes, id: string, aspect: Aspect): string {
  const text = valueText(nodes, id, aspect)
  const former = byId(base).get(id)?.title
  if (aspect !== 'title' || former === undefined || former === text) return text
  return menuWords().fromTo(isolateText(former), isolateText(text))
}
