import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { usePageTitle } from './tab-title.ts'

// The first page of a visit leaves the focus where the browser puts it.
let isFirstPageOfVisit = true

export interface PageHeadProps {
  readonly title: string
  /** What can be done with the whole page. */
  readonly children?: ComponentChildren
}

/** The heading of a page. It takes the focus when the page replaces another one, so that readers know where they are. */
export function PageHead({ title, children }: PageHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    if (!isFirstPageOfVisit) heading.current?.focus({ preventScroll: true })
    isFirstPageOfVisit = false
  }, [])
  usePageTitle(title)
  return (
    <header class="page-head">
      <h1 class="page-title" tabIndex={-1} ref={heading}>
        {title}
      </h1>
      <div class="actions">{children}</div>
    </header>
  )
}
