import { Icon } from '../icon.tsx'

export interface FindBoxProps {
  readonly label: string
  /** What was searched. */
  readonly text?: string | undefined
  readonly onFind: (text: string) => void
}

/** Finds objects by a text; an empty one shows all of them. */
export function FindBox({ label, text: searched = '', onFind }: FindBoxProps) {
  return (
    <form
      class="find-box"
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        const text = new FormData(event.currentTarget).get('text')
        if (typeof text === 'string') onFind(text.trim())
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
        value={searched}
        // The cross that empties it.
        onSearch={({ currentTarget }) => currentTarget.value === '' && onFind('')}
      />
    </form>
  )
}

export function focusFindBox(): void {
  document.querySelector<HTMLElement>('.find-box input')?.focus()
}
