import { useSignalEffect, type ReadonlySignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { askBeforeUnload } from '../before-unload.ts'

export interface UnsavedInput {
  /** Whether something was typed that would be lost. */
  readonly isUnsaved: ReadonlySignal<boolean>
  /** Asks the user whether it may be lost. */
  readonly mayDiscard: () => Promise<boolean>
  /** Called when it may be lost, before the browser goes to the page that the user wanted. */
  readonly discard: () => void
}

// Not every browser has it.
const navigationApi = 'navigation' in globalThis ? navigation : undefined

/**
 * As long as the form is shown, the browser loses nothing that was typed without a question: it asks itself before it leaves
 * the document, and the form asks before Back or Forward within it. Without the Navigation API the latter goes unasked.
 */
export function useUnsavedInput(input: UnsavedInput): void {
  const latest = useRef(input)
  latest.current = input
  useSignalEffect(() => (input.isUnsaved.value ? askBeforeUnload() : undefined))
  useEffect(() => {
    const goAfterQuestion = async (key: string) => {
      const { mayDiscard, discard } = latest.current
      if (!(await mayDiscard())) return
      discard()
      navigationApi?.traverseTo(key)
    }
    const onNavigate = (event: NavigateEvent) => {
      const { navigationType, cancelable, destination } = event
      const isStep = navigationType === 'traverse' && destination.sameDocument
      if (!isStep || !cancelable || !latest.current.isUnsaved.peek()) return
      event.preventDefault()
      void goAfterQuestion(destination.key)
    }
    navigationApi?.addEventListener('navigate', onNavigate)
    return () => navigationApi?.removeEventListener('navigate', onNavigate)
  }, [])
}
