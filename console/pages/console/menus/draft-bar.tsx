import { useSignal } from '@preact/signals'
import { confirmAction } from '../../../parts/confirm.tsx'
import { MenuConflict } from './menu-conflict.tsx'
import { Review } from './review.tsx'
import type { DraftProps, DryRun } from './use-menu-draft.ts'
import { menuWords } from './words.ts'

/** Says whether there is a draft, and lets the user review it. It is always there, so that a draft does not move the page. */
export function DraftBar({ draft }: DraftProps) {
  const words = menuWords()
  const outcome = useSignal<DryRun | null>(null)
  const show = async (reviewed: Promise<DryRun | null>) => {
    outcome.value = await reviewed
  }
  const discard = async () => {
    const { discardTitle: title, discard: action } = words
    if (await confirmAction({ title, action, isDestructive: true })) draft.discard()
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
          <button class="button" type="button" {...whenChanged(discard)}>
            {words.discard}
          </button>
          <button class="button button-main" type="button" {...whenChanged(() => show(draft.review()))}>
            {words.review}
          </button>
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
