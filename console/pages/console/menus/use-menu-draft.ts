import { useSignal } from '@preact/signals'
import type { ApiFailure, ApiResult, AnswerOf } from '../../../api/operations.ts'
import { partWords } from '../../../parts/part-words.ts'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { showToast } from '../../../parts/toast.tsx'
import { call } from '../platform.ts'
import { differencesOf } from './differences.ts'
import { draftOf, editOf, isChanged, rebaseDraft, withNodes, type TreeVersion } from './draft.ts'
import { keepDraft, keptDraft, type Draft } from './kept-draft.ts'
import { readMenus } from './source.ts'
import { titlesTo, type MenuNodes, type MenuTree } from './tree.ts'
import { menuWords } from './words.ts'

/** What a dry run has answered. */
export type DryRun = ApiResult<AnswerOf<'editMenus'>>

export interface MenuDraft extends Draft {
  readonly isChanged: boolean
  /** Identifies the version with which a form begins: it changes when the draft is saved, discarded or rebased. */
  readonly origin: string
  /** The version that others have saved since the draft began, until the user decides; null without a conflict. */
  readonly conflict: TreeVersion | null
  /** `moved` is the id of the node that has another place in these nodes. */
  readonly change: (nodes: MenuNodes, moved?: string) => void
  readonly discard: () => void
  /** Changes the draft if the API would accept it. Returns why it would not; null also if there is a conflict. */
  readonly apply: (nodes: MenuNodes) => Promise<ApiFailure | null>
  /** Lets the API judge the draft without saving it; null if there is a conflict. */
  readonly review: () => Promise<DryRun | null>
  /** Returns why it was refused; null if it is saved, or if there is a conflict. */
  readonly save: () => Promise<ApiFailure | null>
  /** Applies the changes of the draft to the version of the conflict, and reviews the result. */
  readonly addToCurrent: () => Promise<DryRun | null>
  /** Ends a conflict without a decision. The draft stays as it is. */
  readonly postpone: () => void
}

/** The draft of a tree: it is kept while the tree changes and other pages are open, until it is saved or discarded. */
export function useMenuDraft(model: ResourceModel<MenuTree>): MenuDraft {
  const conflict = useSignal<TreeVersion | null>(null)
  const draft = keptDraft() ?? draftOf({ nodes: model.value.value?.items ?? [], etag: model.etag })
  const discards = useSignal(0)
  const postpone = () => (conflict.value = null)
  const keep = (changed: Draft) => {
    postpone()
    keepDraft(isChanged(changed) ? changed : null)
    return changed
  }
  const discard = () => {
    postpone()
    discards.value += 1
    keepDraft(null)
  }
  const send = async (sent: Draft, { isDry }: { readonly isDry: boolean }): Promise<DryRun | null> => {
    const result = await sendDraft(sent, { isDry })
    return !result.ok && result.failure.status === 412 ? compare(sent) : result
  }
  const compare = async (sent: Draft): Promise<DryRun | null> => {
    const result = await readMenus()
    if (!result.ok) return result
    model.show(result)
    const current = { nodes: result.value.items, etag: result.etag }
    if (differencesOf(sent, current.nodes).length > 0) {
      keepDraft(sent)
      conflict.value = current
    } else {
      discard()
      showToast('good', partWords().alreadySo)
    }
    return null
  }
  return {
    ...draft,
    isChanged: isChanged(draft),
    origin: `${draft.etag} ${discards.value}`,
    conflict: conflict.value,
    change: (nodes, id) => void keep(withNodes(draft, nodes, id)),
    discard,
    async apply(nodes) {
      const changed = withNodes(draft, nodes)
      const result = await send(changed, { isDry: true })
      if (result?.ok) keep(changed)
      return result && !result.ok ? result.failure : null
    },
    review: () => send(draft, { isDry: true }),
    async save() {
      const result = await send(draft, { isDry: false })
      if (!result?.ok) return result && result.failure
      await model.refresh()
      discard()
      showToast('good', menuWords().saved)
      return null
    },
    addToCurrent: () => send(keep(rebaseDraft(draft, conflict.value ?? draft)), { isDry: true }),
    postpone,
  }
}

/** What every part of the page gets that shows the draft. */
export interface DraftProps {
  readonly draft: MenuDraft
}

async function sendDraft(
  { base, etag, nodes }: Draft,
  { isDry }: { readonly isDry: boolean },
): Promise<DryRun> {
  const body = { ...editOf(base, nodes), ...(isDry && { dry_run: true }) }
  const result = await call('editMenus', { body, ifMatch: etag })
  return result.ok ? result : { ok: false, failure: withTitles(result.failure, body.items, nodes) }
}

const ITEM_PATH = /^items\.(\d+)\.?/

/** The API names an item by its place in the request; people know it by its titles. */
function withTitles(
  failure: ApiFailure,
  items: readonly { readonly id: string }[],
  nodes: MenuNodes,
): ApiFailure {
  const details = failure.details.map((fault) => {
    const item = items[Number(ITEM_PATH.exec(fault.path)?.[1] ?? -1)]
    const field = fault.path.replace(ITEM_PATH, '')
    if (!item || field !== '') return { ...fault, path: field || fault.path }
    return { ...fault, path: titlesTo(nodes, item.id).join(' › ') || item.id }
  })
  return { ...failure, details }
}
