import { useEffect } from 'preact/hooks'

let pageTitle = ''
let objectTitle: string | null = null

let news = 0

function show(): void {
  const title = objectTitle === null ? pageTitle : `${objectTitle} – ${pageTitle}`
  document.title = news === 0 ? title : `(${news}) ${title}`
}

// The content security policy of the page allows icons from files only.
const MARKED_ICON = new URL('../styles/icon-marked.svg', import.meta.url).href
let plainIcon: string | undefined

/** Shows in the tab of the browser how much is new; 0 for nothing. */
export function markTab(count: number): void {
  news = count
  show()
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  if (!icon) return
  plainIcon ??= icon.href
  icon.href = count === 0 ? plainIcon : MARKED_ICON
}

/** Names the page in the tab of the browser. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    pageTitle = title
    show()
  }, [title])
}

/** Names the object in front of the page, so that the tabs of two objects have different names. */
export function useObjectTitle(title: string): void {
  useEffect(() => {
    objectTitle = title
    show()
    return () => {
      objectTitle = null
      show()
    }
  }, [title])
}
