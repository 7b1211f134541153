import { signal } from '@preact/signals'
import { Icon } from './icon.tsx'
import { partWords } from './part-words.ts'

interface Toast {
  readonly id: number
  readonly tone: 'good' | 'warning'
  readonly text: string
  readonly undo?: () => void
}

const SHOWN_MS = 6_000
const MOST_SHOWN = 3

const toasts = signal<readonly Toast[]>([])
let lastId = 0

/** Says what was done, for some seconds; `undo` adds a button. A failure stays until it is dismissed. */
export function showToast(tone: Toast['tone'], text: string, undo?: () => void): void {
  const id = ++lastId
  toasts.value = [...toasts.peek(), { id, tone, text, ...(undo && { undo }) }].slice(-MOST_SHOWN)
  if (tone === 'good') setTimeout(() => dismiss(id), SHOWN_MS)
}

function dismiss(id: number): void {
  toasts.value = toasts.peek().filter((each) => each.id !== id)
}

/** Shows the toasts; once in a page. */
export function ToastHost() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

function ToastCard({ toast: { id, tone, text, undo } }: { readonly toast: Toast }) {
  const words = partWords()
  return (
    <div class={`toast toast-${tone}`}>
      <Icon name={tone} />
      <span class="toast-text">{text}</span>
      {undo && (
        <button
          class="button button-quiet"
          type="button"
          onClick={() => {
            dismiss(id)
            undo()
          }}
        >
          {words.undo}
        </button>
      )}
      <button class="button button-icon" type="button" aria-label={words.dismiss} onClick={() => dismiss(id)}>
        <Icon name="close" />
      </button>
    </div>
  )
}
