import { useSignal } from '@preact/signals'
import { confirmAction } from '../../../parts/confirm.tsx'
import { Review } from './review.tsx'
import type { DraftProps, DryRun } from './use-menu-draft.ts'
import { menuWords } from './words.ts'

/** Says that the draft is not saved, and lets the user review it. */
export function DraftBar({ draft, current }: DraftProps) {
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
