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
  const next = page?.next_cursor ?? null
  if (isFirstPage(query) && next === null) return null
  // A page that cannot be read has a way to the first one, too.
  if (!page && !model.failure.value) return null
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
      {next !== null && (
        <a class="button" href={withCursor(path, query, next)}>
          {words.older}
          <Icon name="older" />
        </a>
      )}
    </nav>
  )
}
