import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * Gives the focus to the element that `find` returns once a render has removed the focused one. `find` is called after each
 * render, and returns undefined until the wanted element exists. The focus stays where the user has moved it meanwhile.
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
