import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import { PageHead } from '../page-head.tsx'
import { readListQuery } from './list-query.ts'
import { ListView, type ListViewProps } from './list-view.tsx'
import type { ListWords } from './list-words.ts'
import { useNewItem, type NewItem } from './new-item.tsx'
import { useSelectedItem } from './use-selected-item.ts'

export interface ObjectsPageProps<Item> extends ListViewProps<Item> {
  readonly words: ListWords & { readonly title: string }
  /** What else can be done with the whole page; `open` shows an item by its id. */
  readonly head?: (open: (id: string) => void) => ComponentChildren
  /** Shown above the list. */
  readonly summary?: ComponentChildren
  /** How an item is created; false if the user must not. */
  readonly newItem?: NewItem | false
}

/** A page with one list: the title, what can be done, the list, and beside it the item that the address names. */
export function ObjectsPage<Item>({ head, summary, newItem = false, ...view }: ObjectsPageProps<Item>) {
  const { source, path, words } = view
  const query = readListQuery(useLocation().query, source)
  const { open } = useSelectedItem(path, query)
  const { button, dialog } = useNewItem(newItem, open)
  return (
    <>
      <PageHead title={words.title}>
        {head?.(open)}
        {button}
      </PageHead>
      {summary}
      <ListView {...view} />
      {dialog}
    </>
  )
}
