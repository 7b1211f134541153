import { useEffect, useRef } from 'preact/hooks'

// As in styles/parts.css: from this width on, an object is beside its list.
const IS_BESIDE = '(width >= 1100px)'

interface Place {
  /** The page, and whether it shows an object. */
  readonly page: string
  readonly hasObject: boolean
  /** Where the page of the list begins. */
  readonly cursor: string | null
}

/**
 * Keeps the place in a list while objects of it are shown; the router scrolls to the top for each path. On a narrow screen an
 * object is shown alone, from its top, and the list gets its place back. Returns what the router calls after a new path.
 */
export function useKeptScroll(): () => void {
  const place = useRef(placeOf(location))
  const top = useRef(0)
  const listTop = useRef(0)
  useEffect(() => {
    // Later than the call of the router: there it is still the position in front of the new path.
    const onScroll = () => (top.current = scrollY)
    addEventListener('scroll', onScroll, { passive: true })
    return () => removeEventListener('scroll', onScroll)
  }, [])
  return () => {
    const from = place.current
    const to = placeOf(location)
    place.current = to
    if (from.page !== to.page) {
      listTop.current = 0
      return
    }
    if (from.cursor !== to.cursor && !to.hasObject) return scrollTo(0, 0)
    if (!from.hasObject) listTop.current = top.current
    const narrowTop = to.hasObject ? 0 : listTop.current
    scrollTo(0, matchMedia(IS_BESIDE).matches ? top.current : narrowTop)
  }
}

/** `/console/PAGE/ID` */
function placeOf({ pathname, search }: Location): Place {
  const [, , page = '', id = ''] = pathname.split('/')
  return { page, hasObject: id !== '', cursor: new URLSearchParams(search).get('cursor') }
}
