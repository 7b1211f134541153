import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { useRef } from 'preact/hooks'
import type { ApiFailure } from '../../../api/operations.ts'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { Button } from '../../../parts/button.tsx'
import { confirmAction } from '../../../parts/confirm.tsx'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { describeFailure, describeFault } from '../../../parts/failure-words.ts'
import { FormDialog } from '../../../parts/form/form-dialog.tsx'
import { invalidFields } from '../../../parts/form/invalid-fields.ts'
import { ListAndDetail } from '../../../parts/list-and-detail.tsx'
import { useNewItem, type NewItemDialog } from '../../../parts/list/new-item.tsx'
import { Modal } from '../../../parts/modal.tsx'
import { PageHead } from '../../../parts/page-head.tsx'
import { partWords } from '../../../parts/part-words.ts'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { EmptyState } from '../../../parts/states.tsx'
import { session } from '../platform.ts'
import { pathOf, type DetailProps, type ViewProps } from '../view.ts'
import { differencesOf, type Aspect, type Difference } from './differences.ts'
import { withNode, namedChanges, byId, isChanged, rebaseDraft, type TreeVersion } from './draft.ts'
import { NodeDrawer, NODE_SCHEMA } from './node-drawer.tsx'
import { changeText, aspectText, valueText } from './place-text.ts'
import { menuTree } from './source.ts'
import { TreeView } from './tree-view.tsx'
import type { MenuNodes } from './tree.ts'
import { useMenuDraft, type MenuDraft, type DraftProps, type DryRun } from './use-menu-draft.ts'
import { menuWords } from './words.ts'

/** The menus of the shop as a tree, which is changed as a draft and then saved. */
export function MenusPage({ id }: ViewProps) {
  const words = menuWords()
  const tree = useResource(menuTree, '')
  const draft = useMenuDraft(tree)
  const mayEdit = session.may('editMenus')
  const { open, close, leavesFocus } = useOpenMenu()
  const selected = draft.nodes.find((node) => node.id === id)
  const { button, dialog } = useNewItem(mayEdit, words.newItem, open)
  return (
    <>
      <PageHead title={words.title}>{button}</PageHead>
      <ResourceView model={tree}>
        {() => (
          <>
            {mayEdit && <DraftBar draft={draft} />}
            <ListAndDetail
              detail={
                selected ? (
                  <NodeDrawer
                    node={selected}
                    draft={draft}
                    mayEdit={mayEdit}
                    onClose={close}
                    leavesFocus={leavesFocus}
                  />
                ) : (
                  id !== undefined && <NoNode id={id} onClose={close} />
                )
              }
            >
              {mayEdit && <p class="muted">{words.help}</p>}
              {draft.nodes.length === 0 ? (
                <EmptyState icon="menus" title={words.empty} />
              ) : (
                <TreeView
                  nodes={draft.nodes}
                  selected={id}
                  open={open}
                  change={mayEdit ? draft.change : undefined}
                />
              )}
            </ListAndDetail>
          </>
        )}
      </ResourceView>
      {dialog && <NewNode {...dialog} draft={draft} parentId={selected?.id ?? null} />}
    </>
  )
}

function NoNode({ id, onClose }: DetailProps) {
  return (
    <Drawer title={id} onClose={onClose}>
      <EmptyState icon="menus" title={menuWords().notListed} />
    </Drawer>
  )
}

const PATH = pathOf('menus')

const SELECTED_ROW = '[role="treeitem"][aria-selected="true"]'
const FOCUSED_ROW = '[role="treeitem"]:focus'

/** Opens and closes a menu. One that is chosen by mouse leaves the focus in the tree, so that the keys move it. */
function useOpenMenu() {
  const { route } = useLocation()
  const isChosenByMouse = useRef(false)
  return {
    open(id: string, isByMouse = false) {
      isChosenByMouse.current = isByMouse
      route(pathOf('menus', id))
    },
    close() {
      route(PATH)
      document.querySelector<HTMLElement>(SELECTED_ROW)?.focus()
    },
    /** A narrow window hides the tree. */
    leavesFocus(): boolean {
      return isChosenByMouse.current && document.querySelector(FOCUSED_ROW)?.checkVisibility() === true
    },
  }
}

interface NewNodeProps extends NewItemDialog {
  readonly draft: MenuDraft
  /** Null for the top. */
  readonly parentId: string | null
}

/** Asks for a new menu below the one that is shown, and adds it to the draft. */
function NewNode({ draft, parentId, onClose, onCreated }: NewNodeProps) {
  const words = menuWords()
  const { id, title, path, icon } = words.fields
  const parent = draft.nodes.find((node) => node.id === parentId)
  const send = async (body: object): Promise<ApiFailure | null> => {
    const node = { id: '', title: '', parent_id: parentId, path: null, icon: null, enabled: true, ...body }
    // The API would take it as a change of that menu.
    if (draft.nodes.some((known) => known.id === node.id))
      return invalidFields([{ path: 'id', message: words.takenId }])
    const nodes = withNode(draft.nodes, node)
    const failure = await draft.apply(nodes)
    if (!failure) onCreated(node.id)
    return failure
  }
  return (
    <FormDialog
      title={parent ? words.newNodeBelow(isolateText(parent.title)) : words.newNodeAtTop}
      schema={{ ...NODE_SCHEMA, required: ['id', 'title'] }}
      labels={{ id, title, path, icon }}
      hints={words.hints}
      action={words.add}
      send={send}
      onClose={onClose}
    />
  )
}

/** Says whether there is a draft, and lets the user review it. It is always there, so that a draft does not move the page. */
function DraftBar({ draft }: DraftProps) {
  const words = menuWords()
  const outcome = useSignal<DryRun | null>(null)
  const show = async (reviewed: Promise<DryRun | null>) => {
    outcome.value = await reviewed
  }
  const discard = async () => {
    if (await confirmAction({ ...words.discard, isDestructive: true })) draft.discard()
  }
  const whenChanged = (run: () => unknown) => ({
    'aria-disabled': !draft.isChanged,
    onClick: () => void (draft.isChanged && run()),
  })
  return (
    <>
      <div class={draft.isChanged ? 'menu-draft is-changed' : 'menu-draft'}>
        <span role="status">{draft.isChanged ? words.draft : words.noDraft}</span>
        <div class="actions">
          <Button {...whenChanged(discard)}>{words.discard.action}</Button>
          <Button kind="main" {...whenChanged(() => show(draft.review()))}>
            {words.review}
          </Button>
        </div>
      </div>
      {draft.conflict && (
        <MenuConflict draft={draft} current={draft.conflict} onAdd={() => void show(draft.addToCurrent())} />
      )}
      {outcome.value && (
        <Review outcome={outcome.value} draft={draft} onClose={() => (outcome.value = null)} />
      )}
    </>
  )
}

interface ReviewProps extends DraftProps {
  readonly outcome: DryRun
  readonly onClose: () => void
}

/** What the dry run of a draft has answered; from here the draft is saved. */
function Review({ outcome, draft, onClose }: ReviewProps) {
  const words = menuWords()
  const refused = useSignal(outcome.ok ? null : outcome.failure)
  const isSaving = useSignal(false)
  const save = async () => {
    if (isSaving.peek()) return
    isSaving.value = true
    refused.value = await draft.save()
    isSaving.value = false
    if (!refused.value) onClose()
  }
  // A draft that is being saved cannot be withdrawn, and no other draft may begin meanwhile.
  const close = () => isSaving.peek() || onClose()
  const title = outcome.ok ? words.reviewTitle : words.refusedTitle
  const textOf = (id: string) => changeText(draft.base, draft.nodes, id)
  return (
    <Modal label={title} onClose={close} onLeave={onClose}>
      <h2 class="modal-title">{title}</h2>
      {refused.value && <Refusal failure={refused.value} />}
      {outcome.ok && <Outcome change={namedChanges(outcome.value, draft)} textOf={textOf} />}
      <div class="actions actions-end">
        <Button aria-disabled={isSaving.value} onClick={close}>
          {partWords().cancel}
        </Button>
        {outcome.ok && (
          <Button kind="main" autofocus aria-disabled={isSaving.value} onClick={() => void save()}>
            {isSaving.value ? partWords().saving : words.save}
          </Button>
        )}
      </div>
    </Modal>
  )
}

function Refusal({ failure }: { readonly failure: ApiFailure }) {
  return (
    <div class="form-failure" role="alert">
      <p>{describeFailure(failure)}</p>
      {failure.details.map((fault) => (
        <p key={fault.path}>
          <bdi>{fault.path}</bdi>: {describeFault(fault)}
        </p>
      ))}
    </div>
  )
}

const OUTCOMES = ['created', 'updated', 'moved', 'deleted'] as const

interface OutcomeProps {
  readonly change: ReturnType<typeof namedChanges>
  readonly textOf: (id: string) => string
}

function Outcome({ change, textOf }: OutcomeProps) {
  const words = menuWords()
  const groups = OUTCOMES.filter((name) => change[name].length > 0)
  if (groups.length === 0) return <p>{words.noChange}</p>
  return (
    <FactList facts={groups.map((name) => [words.outcomes[name], change[name].map(textOf).join('\n')])} />
  )
}

interface MenuConflictProps extends DraftProps {
  /** The version that others saved. */
  readonly current: TreeVersion
  readonly onAdd: () => void
}

/** The changes of the user beside the current version, after another change was quicker. Nothing is lost before a choice. */
function MenuConflict({ draft, current, onAdd }: MenuConflictProps) {
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
