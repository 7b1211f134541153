import { useEffect } from 'preact/hooks'

let pageTitle = ''
let objectTitle: string | null = null

function show(): void {
  document.title = objectTitle === null ? pageTitle : `${objectTitle} – ${pageTitle}`
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
