import { computed, signal } from '@preact/signals'
import { Button } from './button.tsx'
import { Modal } from './modal.tsx'
import { partWords } from './part-words.ts'

export interface Question {
  readonly title: string
  readonly text?: string
  /** The words of the button for yes. */
  readonly action: string
  /** The words of the button for no; by default "Cancel". */
  readonly cancel?: string
  readonly isDestructive?: boolean
}

interface OpenQuestion extends Question {
  readonly answer: (yes: boolean) => void
}

const openQuestion = signal<OpenQuestion | null>(null)

/** Whether a question waits for its answer. */
export const isAsking = computed(() => openQuestion.value !== null)

/** Asks before something is done; false if the user does not want it. A second question answers the first with no. */
export function confirmAction(question: Question): Promise<boolean> {
  openQuestion.peek()?.answer(false)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const answer = (yes: boolean) => {
    openQuestion.value = null
    resolve(yes)
  }
  openQuestion.value = { ...question, answer }
  return promise
}

/** Shows the question of {@link confirmAction}; once in a page. */
export function ConfirmHost() {
  const question = openQuestion.value
  if (!question) return null
  const { title, text, action, cancel = partWords().cancel, isDestructive = false, answer } = question
  return (
    <Modal label={title} role="alertdialog" onClose={() => answer(false)}>
      <h2 class="modal-title">{title}</h2>
      {text && <p>{text}</p>}
      <div class="actions actions-end">
        <Button onClick={() => answer(false)}>{cancel}</Button>
        <Button kind={isDestructive ? 'danger' : 'main'} onClick={() => answer(true)}>
          {action}
        </Button>
      </div>
    </Modal>
  )
}
