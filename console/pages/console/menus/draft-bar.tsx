import { useSignal } from '@preact/signals'
import type { AnswerOf, ApiFailure } from '../../../api/operations.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import type { MenuNodes } from './tree.ts'
import { Review } from './review.tsx'
import type { MenuDraft } from './use-menu-draft.ts'
import { menuWords } from './words.ts'

/** What a dry run has answered. */
export type DryRun =
  | { readonly ok: true; readonly value: AnswerOf<'editMenus'> }
  | { readonly ok: false; readonly failure: ApiFailure }

export interface DraftBarProps {
  readonly draft: MenuDraft
  /** The tree as it is. */
  readonly current: MenuNodes
}

/** Says that the draft is not saved, and lets the user review it. */
export function DraftBar({ draft, current }: DraftBarProps) {
  const words = menuWords()
  const outcome = useSignal<DryRun | null>(null)
  if (!draft.isChanged) return null
  const review = async () => {
    const result = await draft.check(draft.nodes)
    if (result.ok || result.failure.status !== 412) outcome.value = result
  }
  const discard = async () => {
    const { discardTitle: title, discard: action } = words
    if (await confirmAction({ title, action, isDestructive: true })) draft.discard()
  }
  return (
    <div class="menu-draft" role="status">
      <span>{words.draft}</span>
      <div class="actions">
        <button class="button" type="button" onClick={() => void discard()}>
          {words.discard}
        </button>
        <button class="button button-main" type="button" onClick={() => void review()}>
          {words.review}
        </button>
      </div>
      {outcome.value && (
        <Review
          outcome={outcome.value}
          draft={draft}
          current={current}
          onClose={() => (outcome.value = null)}
        />
      )}
    </div>
  )
}
