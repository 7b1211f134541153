import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../icon.tsx'

export interface FindBoxProps {
  readonly label: string
  /** What was searched. */
  readonly text?: string | undefined
  /** Called with the text to find; the promise ends when the address has changed. */
  readonly onFind: (text: string) => void | Promise<void>
}

/** Finds objects by a text; an empty one shows all of them. */
export function FindBox({ label, text: searched = '', onFind }: FindBoxProps) {
  const text = useSignal(searched)
  const latest = useRef(searched)
  latest.current = searched
  /** The text that was searched last, until the search has ended. */
  const sent = useRef<string | null>(null)
  // What the user has typed during the search stays in the box.
  const isUntouched = () => sent.current === null || sent.current === text.peek()
  useLayoutEffect(() => {
    if (isUntouched()) text.value = searched
  }, [searched])
  const find = async () => {
    sent.current = text.peek()
    await onFind(sent.current.trim())
    // If the search opens an object, the list keeps its text.
    if (isUntouched()) text.value = latest.current
    sent.current = null
  }
  return (
    <form
      class="find-box"
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        void find()
      }}
    >
      <Icon name="search" />
      <input
        class="input"
        name="text"
        type="search"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        value={text.value}
        // On Escape a browser would empty the field.
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || event.isComposing) return
          event.preventDefault()
          text.value = searched
          event.currentTarget.blur()
        }}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        // The browser shows a cross that empties the box.
        onSearch={({ currentTarget }) => currentTarget.value === '' && void onFind('')}
      />
    </form>
  )
}

export function focusFindBox(): void {
  document.querySelector<HTMLElement>('.find-box input')?.focus()
}
