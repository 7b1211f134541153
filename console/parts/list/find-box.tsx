import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../icon.tsx'

export interface FindBoxProps {
  readonly label: string
  /** What was searched. */
  readonly text?: string | undefined
  readonly onFind: (text: string) => void
}

/** Finds objects by a text; an empty one shows all of them. */
export function FindBox({ label, text: searched = '', onFind }: FindBoxProps) {
  const text = useSignal(searched)
  const latest = useRef(searched)
  latest.current = searched
  useEffect(() => void (text.value = searched), [searched])
  return (
    <form
      class="find-box"
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        onFind(text.peek().trim())
        // Where an object is opened, the list stays as it is. The `search` event of the browser still has the text that was sent.
        requestAnimationFrame(() => (text.value = latest.current))
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
        // A browser would empty the field.
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || event.isComposing) return
          event.preventDefault()
          text.value = searched
          event.currentTarget.blur()
        }}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        // The cross that empties it.
        onSearch={({ currentTarget }) => currentTarget.value === '' && onFind('')}
      />
    </form>
  )
}

export function focusFindBox(): void {
  document.querySelector<HTMLElement>('.find-box input')?.focus()
}
