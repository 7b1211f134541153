import { Icon } from '../icon.tsx'

export interface FindBoxProps {
  readonly label: string
  readonly onFind: (text: string) => void
}

/** Opens an object by its id. */
export function FindBox({ label, onFind }: FindBoxProps) {
  return (
    <form
      class="find-box"
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        const text = new FormData(event.currentTarget).get('text')
        if (typeof text !== 'string' || text.trim() === '') return
        event.currentTarget.reset()
        onFind(text.trim())
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
      />
    </form>
  )
}

export function focusFindBox(): void {
  document.querySelector<HTMLElement>('.find-box input')?.focus()
}
