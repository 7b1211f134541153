import { useLocation } from 'preact-iso/router'
import { useEffect, useRef } from 'preact/hooks'
import { localNumber } from '../../i18n/local.ts'
import { Icon } from '../icon.tsx'
import { partWords } from '../part-words.ts'
import type { ListModel } from './list-model.ts'
import { isFirstPage, withCursor, type ListQuery } from './list-query.ts'

export interface PagerProps<Item> {
  readonly path: string
  readonly query: ListQuery
  readonly model: ListModel<Item>
}

/** Moves through the pages of a list. A cursor knows only what follows, so the way back is the browser's own. */
export function Pager<Item>({ path, query, model }: PagerProps<Item>) {
  const { back } = useLocation()
  const page = model.page.value
  const words = partWords()
  const shown = useRef(query['cursor'])
  // Another page is read from its begin; the router scrolls for another path only.
  useEffect(() => {
    if (shown.current !== query['cursor']) scrollTo(0, 0)
    shown.current = query['cursor']
  }, [query['cursor']])
  // Also without the page: the address may have a cursor that leads to none.
  if (isFirstPage(query) && !page?.next_cursor) return null
  return (
    <nav class="pager" aria-label={words.pages}>
      {!isFirstPage(query) && (
        <>
          <a class="button" href={withCursor(path, query, null)}>
            {words.newest}
          </a>
          <button class="button" type="button" onClick={back}>
            <Icon name="newer" />
            {words.newer}
          </button>
        </>
      )}
      {page && <span class="muted">{words.rows(localNumber(page.items.length))}</span>}
      {page?.next_cursor && (
        <a class="button" href={withCursor(path, query, page.next_cursor)}>
          {words.older}
          <Icon name="older" />
        </a>
      )}
    </nav>
  )
}
