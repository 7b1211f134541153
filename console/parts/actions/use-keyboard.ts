import { useLayoutEffect } from 'preact/hooks'
import { availableActions } from './actions.ts'

/**
 * Runs the actions by their keys; once in a page. Keys that a field or a dialog needs are left to it; Escape
 * leaves a field, so that the next keys are those of the page.
 */
export function useKeyboard(): void {
  useLayoutEffect(() => {
    const sequence = new KeySequence()
    const onKeyDown = (event: KeyboardEvent) => {
      if (
        event.defaultPrevented ||
        event.altKey ||
        event.isComposing ||
        document.querySelector('dialog[open]')
      )
        return
      const key = event.ctrlKey || event.metaKey ? `Ctrl-${event.key}` : event.key
      if (!key.startsWith('Ctrl-') && isTyping(event.target)) {
        if (key === 'Escape') event.target.blur()
        return
      }
      const actions = availableActions()
      const keys = sequence.press(
        key,
        event.timeStamp,
        actions.flatMap((action) => action.keys ?? []),
      )
      if (keys === undefined) return
      event.preventDefault()
      actions.find((action) => action.keys === keys)?.run()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

/** Whether the keys belong to a field. */
export function isTyping(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
}

// After a longer pause the next key begins a new sequence.
const PAUSE_MS = 1_500

/** Recognizes the keys of actions, also several keys one after the other. */
export class KeySequence {
  #pressed: readonly string[] = []
  #at = -Infinity

  /** The keys that are complete with this one, such as `g o`; undefined if there are none. */
  press(key: string, at: number, known: readonly string[]): string | undefined {
    const before = at - this.#at > PAUSE_MS ? [] : this.#pressed
    this.#at = at
    for (const keys of [[...before, key], [key]]) {
      const text = keys.join(' ')
      if (known.includes(text)) {
        this.#pressed = []
        return text
      }
      this.#pressed = keys
      if (known.some((keysOfAction) => keysOfAction.startsWith(`${text} `))) return undefined
    }
    this.#pressed = []
    return undefined
  }
}
