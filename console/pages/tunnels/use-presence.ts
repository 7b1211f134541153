import { useEffect, useReducer, useRef } from 'preact/hooks'
import { presentItems, type Present } from './presence.ts'

// A little longer than the transitions of picture.css.
const PHASE_MS = 700

/** The items, and for a moment the removed ones, so that their removal can be animated. */
export function usePresence<T extends { readonly key: string }>(next: readonly T[]): readonly Present<T>[] {
  const shown = useRef<readonly Present<T>[]>([])
  const [, redraw] = useReducer<number, undefined>((count) => count + 1, 0)
  shown.current = presentItems(shown.current, next, performance.now(), PHASE_MS)
  const isChanging = shown.current.some(({ phase }) => phase !== 'here')
  useEffect(() => {
    if (!isChanging) return undefined
    const timer = setTimeout(() => redraw(undefined), PHASE_MS)
    return () => clearTimeout(timer)
  })
  return shown.current
}
