import { useSignal } from '@preact/signals'
import type { ApiFailure } from '../../../api/operations.ts'
import { FactList } from '../../../parts/facts.tsx'
import { describeFailure, describeFault } from '../../../parts/failure-words.ts'
import { Modal } from '../../../parts/modal.tsx'
import { partWords } from '../../../parts/part-words.ts'
import { namedChanges } from './draft.ts'
import { changeText } from './place-text.ts'
import type { DraftProps, DryRun } from './use-menu-draft.ts'
import { menuWords } from './words.ts'

export interface ReviewProps extends DraftProps {
  readonly outcome: DryRun
  readonly onClose: () => void
}

/** What the dry run of a draft has answered; from here the draft is saved. */
export function Review({ outcome, draft, onClose }: ReviewProps) {
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
  // What is on its way cannot be withdrawn, and must not meet another draft.
  const close = () => isSaving.peek() || onClose()
  const title = outcome.ok ? words.reviewTitle : words.refusedTitle
  const textOf = (id: string) => changeText(draft.base, draft.nodes, id)
  return (
    <Modal label={title} onClose={close} onLeave={onClose}>
      <h2 class="modal-title">{title}</h2>
      {refused.value && <Refusal failure={refused.value} />}
      {outcome.ok && <Outcome change={namedChanges(outcome.value, draft)} textOf={textOf} />}
      <div class="actions actions-end">
        <button class="button" type="button" aria-disabled={isSaving.value} onClick={close}>
          {partWords().cancel}
        </button>
        {outcome.ok && (
          <button
            class="button button-main"
            type="button"
            autofocus
            aria-disabled={isSaving.value}
            onClick={() => void save()}
          >
            {isSaving.value ? partWords().saving : words.save}
          </button>
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
