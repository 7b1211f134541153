import { useSignal } from '@preact/signals'
import type { ApiFailure, ApiResult, AnswerOf } from '../../../api/operations.ts'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { showToast } from '../../../parts/toast.tsx'
import { call } from '../platform.ts'
import { changedIds, editOf, rebase } from './draft.ts'
import { keepDraft, keptDraft, type Draft } from './kept-draft.ts'
import { titlesTo, type MenuNodes, type MenuTree } from './tree.ts'
import { menuWords } from './words.ts'

/** What a dry run has answered. */
export type DryRun = ApiResult<AnswerOf<'editMenus'>>

export interface MenuDraft {
  /** The draft, or the tree as it is. */
  readonly nodes: MenuNodes
  /** The ids of the nodes that the user has moved. */
  readonly moved: ReadonlySet<string>
  readonly isChanged: boolean
  /** Of the tree as it is. */
  readonly version: string | null
  /** The draft was refused because the tree has another version. */
  readonly isConflict: boolean
  /** `moved` is the id of the node that has another place in these nodes. */
  readonly change: (nodes: MenuNodes, moved?: string) => void
  readonly discard: () => void
  /** Lets the API judge a draft without saving it. */
  readonly check: (nodes: MenuNodes) => Promise<DryRun>
  /** Returns why it was refused; null if it is saved, or if there is a conflict. */
  readonly save: () => Promise<ApiFailure | null>
  /** Makes the changes of the draft to the tree as it is now. */
  readonly rebaseDraft: () => void
}

/** The draft of a tree: it is kept while the tree changes and other pages are open, until it is saved or discarded. */
export function useMenuDraft(model: ResourceModel<MenuTree>): MenuDraft {
  const isConflict = useSignal(false)
  const current = model.value.value?.items ?? []
  const { base, etag, nodes, moved } = keptDraft() ?? draftOf(current, model.etag)
  const send = async (wanted: MenuNodes, isDry: boolean) => {
    const body = { ...editOf(base, wanted), ...(isDry && { dry_run: true }) }
    const result = await call('editMenus', { body, ifMatch: etag })
    if (!result.ok && result.failure.status === 412) await showConflict()
    return { ...result, ...(!result.ok && { failure: withTitles(result.failure, body.items, wanted) }) }
  }
  const showConflict = async () => {
    await model.refresh()
    isConflict.value = true
  }
  const discard = () => {
    keepDraft(null)
    isConflict.value = false
  }
  const save = async () => {
    const result = await send(nodes, false)
    if (!result.ok) return result.failure.status === 412 ? null : result.failure
    await model.refresh()
    discard()
    showToast('good', menuWords().saved)
    return null
  }
  return {
    nodes,
    moved,
    isChanged: changedIds(base, nodes).length > 0,
    isConflict: isConflict.value,
    version: model.etag,
    change(wanted, id) {
      const draft = { base, etag, nodes: wanted, moved: id === undefined ? moved : new Set([...moved, id]) }
      keepDraft(changedIds(base, wanted).length > 0 ? draft : null)
    },
    discard,
    check: (wanted) => send(wanted, true),
    save,
    rebaseDraft() {
      keepDraft({ base: current, etag: model.etag, nodes: rebase(base, nodes, current), moved })
      isConflict.value = false
    },
  }
}

function draftOf(nodes: MenuNodes, etag: string | null): Draft {
  return { base: nodes, etag, nodes, moved: new Set() }
}

/** What the parts that show a draft get. */
export interface DraftProps {
  readonly draft: MenuDraft
  /** The tree as it is. */
  readonly current: MenuNodes
}

const ITEM_PATH = /^items\.(\d+)\.?/

/** The API names an item by its place in the request; people know it by its titles. */
function withTitles(
  failure: ApiFailure,
  items: readonly { readonly id: string }[],
  nodes: MenuNodes,
): ApiFailure {
  const details = failure.details.map(({ path, message }) => {
    const item = items[Number(ITEM_PATH.exec(path)?.[1] ?? -1)]
    const field = path.replace(ITEM_PATH, '')
    if (!item || field !== '') return { path: field || path, message }
    return { path: titlesTo(nodes, item.id).join(' › ') || item.id, message }
  })
  return { ...failure, details }
}
