import { useSignal, useSignalEffect, type ReadonlySignal } from '@preact/signals'
import { useRef, useEffect } from 'preact/hooks'
import { askBeforeUnload } from '../before-unload.ts'
import { confirmAction } from '../confirm.tsx'
import { Modal } from '../modal.tsx'
import { partWords } from '../part-words.ts'
import { SchemaForm, type SchemaFormProps } from './schema-form.tsx'

export interface FormDialogProps extends Omit<SchemaFormProps, 'onCancel'> {
  readonly title: string
  /** What the form does. */
  readonly text?: string
  readonly onClose: () => void
}

/**
 * A form in front of the page. Escape, a click beside it and the browser lose nothing that was typed without a question;
 * Escape and a click do nothing while it is sent.
 */
export function FormDialog({ title, text, onClose, ...form }: FormDialogProps) {
  const isTouched = useSignal(false)
  const isSending = useRef(false)
  const send = async (body: object, how: SchemaFormProps['send']) => {
    isSending.current = true
    const failure = await how(body)
    isSending.current = false
    return failure
  }
  const discard = () => {
    isTouched.value = false
    onClose()
  }
  const close = async () => {
    // A request that is on its way cannot be discarded; the form closes when it is answered.
    if (isSending.current) return
    if (!isTouched.value || (await mayDiscard())) discard()
  }
  useUnsavedInput({ isUnsaved: isTouched, mayDiscard, discard })
  const { other } = form
  return (
    <Modal
      label={title}
      onInput={() => (isTouched.value = true)}
      onClose={() => void close()}
      onLeave={onClose}
    >
      <h2 class="modal-title">{title}</h2>
      {text && <p>{text}</p>}
      <SchemaForm
        {...form}
        send={(body) => send(body, form.send)}
        {...(other && { other: { ...other, send: (body: object) => send(body, other.send) } })}
        onCancel={onClose}
      />
    </Modal>
  )
}

function mayDiscard(): Promise<boolean> {
  const { discardTitle, discardText, discard: action, keepEditing: cancel } = partWords()
  return confirmAction({ title: discardTitle, text: discardText, action, cancel, isDestructive: true })
}

interface UnsavedInput {
  /** Whether something was typed that would be lost. */
  readonly isUnsaved: ReadonlySignal<boolean>
  /** Asks the user whether it may be lost. */
  readonly mayDiscard: () => Promise<boolean>
  /** Called when it may be lost, before the browser goes to the page that the user wanted. */
  readonly discard: () => void
}

// Some browsers do not have the Navigation API.
const navigationApi = 'navigation' in globalThis ? navigation : undefined

/**
 * As long as the form is shown, the browser loses nothing that was typed without a question: it asks itself before it leaves
 * the document, and the form asks before Back or Forward within it. Without the Navigation API the latter goes unasked.
 */
function useUnsavedInput(input: UnsavedInput): void {
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
