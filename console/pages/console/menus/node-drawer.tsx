import { isolateText } from '../../../i18n/isolate-text.ts'
import { BODIES } from '../../../api/generated.ts'
import type { ApiFailure } from '../../../api/operations.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { WhoChanged } from '../audit/who-changed.tsx'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { SchemaForm } from '../../../parts/form/schema-form.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { partWords } from '../../../parts/part-words.ts'
import { showToast } from '../../../parts/toast.tsx'
import { withoutBranch } from './draft.ts'
import { useMoveKeys } from './move-keys.ts'
import { placeText } from './place-text.ts'
import {
  branchIds,
  childrenOf,
  heightOf,
  MOST_LEVELS,
  moveNode,
  placeAfter,
  rowsOf,
  titlesTo,
  type MenuMove,
  type MenuNode,
  type MenuPlace,
} from './tree.ts'
import type { MenuDraft } from './use-menu-draft.ts'
import { menuWords } from './words.ts'

export const NODE_SCHEMA = BODIES.editMenus.properties.items.items

export interface NodeDrawerProps {
  readonly node: MenuNode
  readonly draft: MenuDraft
  readonly mayEdit: boolean
  readonly onClose: () => void
  /** Whether the focus stays where it is. */
  readonly leavesFocus: () => boolean
}

/** One menu: its place and its fields. */
export function NodeDrawer({ node, draft, mayEdit, onClose, leavesFocus }: NodeDrawerProps) {
  return (
    <Drawer title={node.title} subject={node.id} onClose={onClose} leavesFocus={leavesFocus}>
      {mayEdit ? (
        <>
          <NodeMoves node={node} draft={draft} onRemoved={onClose} />
          <NodeForm key={`${node.id} ${draft.origin}`} node={node} draft={draft} />
        </>
      ) : (
        <NodeFacts node={node} draft={draft} />
      )}
      <WhoChanged kind="menu" id={node.id} version={draft.origin} />
    </Drawer>
  )
}

interface NodeProps {
  readonly node: MenuNode
  readonly draft: MenuDraft
}

const MOVES: readonly MenuMove[] = ['up', 'down', 'in', 'out']

interface NodeMovesProps extends NodeProps {
  readonly onRemoved: () => void
}

/** The moves for those who cannot drag. */
function NodeMoves({ node, draft, onRemoved }: NodeMovesProps) {
  const { id, title } = node
  const { nodes, change } = draft
  const words = menuWords()
  const remove = async () => {
    const question = { ...words.remove, title: words.remove.title(isolateText(title)), isDestructive: true }
    if (!(await confirmAction(question))) return
    onRemoved()
    change(withoutBranch(nodes, id))
  }
  const moveTo = (place: MenuPlace) => change(moveNode(nodes, id, place), id)
  const move = (direction: MenuMove) => {
    const place = placeAfter(nodes, id, direction)
    if (place) moveTo(place)
  }
  useMoveKeys(move)
  const moves = MOVES.map((direction) => ({
    title: words.moves[direction],
    isDisabled: placeAfter(nodes, id, direction) === null,
    run: () => move(direction),
  }))
  return (
    <>
      <ObjectActions actions={[...moves, { title: words.remove.action, isDestructive: true, run: remove }]} />
      <p class="muted" role="status">
        {placeText(nodes, id)}
      </p>
      <NodeParent node={node} draft={draft} onMove={moveTo} />
    </>
  )
}

interface NodeParentProps extends NodeProps {
  readonly onMove: (place: MenuPlace) => void
}

/** The parent by its titles: moving one level after the other takes long in a deep tree. */
function NodeParent({ node, draft: { nodes }, onMove }: NodeParentProps) {
  const { parent, top } = menuWords()
  const branch = branchIds(nodes, node.id)
  const deepest = MOST_LEVELS - heightOf(nodes, node.id)
  const choices = rowsOf(nodes).filter(
    (row) => row.node.id === node.parent_id || (!branch.has(row.node.id) && row.level <= deepest),
  )
  const choose = (value: string) => {
    const parent_id = value === '' ? null : value
    onMove({ parent_id, index: childrenOf(nodes, parent_id).length })
  }
  return (
    <label class="form-field">
      <span class="form-label">{parent}</span>
      <select
        class="input"
        value={node.parent_id ?? ''}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        <option value="">{top}</option>
        {choices.map(({ node: { id } }) => (
          <option key={id} value={id}>
            {titlesTo(nodes, id).join(' › ')}
          </option>
        ))}
      </select>
    </label>
  )
}

/** What is typed is in the draft at once. The button shows at the fields what the API would refuse. */
function NodeForm({ node, draft }: NodeProps) {
  const words = menuWords()
  const { title, path, icon, enabled } = words.fields
  const { yes, no } = partWords()
  const withFields = (body: object) => {
    // A text that is left empty is none; the API refuses a menu without a title.
    const changed = { ...node, title: '', path: null, icon: null, ...body }
    return draft.nodes.map((other) => (other.id === node.id ? changed : other))
  }
  const apply = async (body: object): Promise<ApiFailure | null> => {
    const failure = await draft.apply(withFields(body))
    if (!failure) showToast('good', words.accepted)
    return failure
  }
  return (
    <SchemaForm
      schema={NODE_SCHEMA}
      labels={{ title, path, icon, enabled }}
      hints={words.hints}
      labelOf={(_, value) => (value === 'true' ? yes : no)}
      initial={{
        title: node.title,
        path: node.path ?? '',
        icon: node.icon ?? '',
        enabled: String(node.enabled),
      }}
      onChange={(body) => draft.change(withFields(body))}
      action={words.apply}
      send={apply}
    />
  )
}

function NodeFacts({ node, draft: { nodes } }: NodeProps) {
  const { fields, top } = menuWords()
  const parents = titlesTo(nodes, node.id).slice(0, -1)
  return (
    <FactList
      facts={[
        [fields.id, node.id],
        [fields.parent_id, parents.join(' › ') || top],
        [fields.path, node.path],
        [fields.icon, node.icon],
      ]}
    />
  )
}
