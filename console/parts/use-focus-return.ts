import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * Gives the focus to what `find` finds once a render has taken away what had it. `find` is asked after each render, and
 * returns undefined until what is wanted can be there. A focus that the user has moved elsewhere meanwhile stays there.
 */
export function useFocusReturn<Wanted>(
  find: (wanted: Wanted) => HTMLElement | null | undefined,
): (wanted: Wanted) => void {
  const request = useRef<{ readonly wanted: Wanted } | null>(null)
  useLayoutEffect(() => {
    if (!request.current) return
    const target = find(request.current.wanted)
    if (target === undefined) return
    request.current = null
    if (document.activeElement === document.body) target?.focus()
  })
  return (wanted) => {
    request.current = { wanted }
  }
}
