import { signal } from '@preact/signals'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { partWords } from './part-words.ts'
import { visibleText } from './visible-text.ts'

interface Toast {
  readonly id: number
  /** The tone, and the name of its icon. */
  readonly tone: 'good' | 'warning' | 'inbox'
  readonly text: string
  /** The button beside the text. */
  readonly action?: ToastAction
}

interface ToastAction {
  readonly title: string
  readonly run: () => void
}

const SHOWN_MS = 6_000
const MOST_SHOWN = 3

const toasts = signal<readonly Toast[]>([])
let lastId = 0

/** Says what was done, for some seconds; `undo` adds a button. A failure stays until it is dismissed. */
export function showToast(tone: 'good' | 'warning', text: string, undo?: () => void): void {
  const id = addToast({ tone, text, ...(undo && { action: { title: partWords().undo, run: undo } }) })
  if (tone === 'good') setTimeout(() => dismiss(id), SHOWN_MS)
}

/** Says what has happened elsewhere, until it is dismissed, with a button that leads there. */
export function showNews(text: string, action: ToastAction): void {
  addToast({ tone: 'inbox', text, action })
}

function addToast(toast: Omit<Toast, 'id'>): number {
  const id = ++lastId
  toasts.value = [...toasts.peek(), { ...toast, id }].slice(-MOST_SHOWN)
  return id
}

function dismiss(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id)
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

function ToastCard({ toast: { id, tone, text, action } }: { readonly toast: Toast }) {
  const words = partWords()
  return (
    <div class={`toast toast-${tone}`}>
      <Icon name={tone} />
      <span class="toast-text">{visibleText(text)}</span>
      {action && (
        <Button
          kind="quiet"
          onClick={() => {
            dismiss(id)
            action.run()
          }}
        >
          {action.title}
        </Button>
      )}
      <Button kind="icon" icon="close" aria-label={words.dismiss} onClick={() => dismiss(id)} />
    </div>
  )
}
