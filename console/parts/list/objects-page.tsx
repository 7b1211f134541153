import type { ComponentChildren, FunctionComponent } from 'preact'
import { useLocation } from 'preact-iso/router'
import { PageHead } from '../page-head.tsx'
import { readListQuery } from './list-query.ts'
import { ListView, type ListViewProps } from './list-view.tsx'
import type { ListWords } from './list-words.ts'
import { useNewItem, type NewItemDialog } from './new-item.tsx'
import { useSelectedItem } from './use-selected-item.ts'

export interface ObjectsPageProps<Item> extends ListViewProps<Item> {
  readonly words: ListWords & { readonly title: string; readonly newItem?: string }
  /** What else can be done with the whole page; `open` shows an item by its id. */
  readonly head?: (open: (id: string) => void) => ComponentChildren
  /** Shown above the list. */
  readonly summary?: ComponentChildren
  /** The form for a new item, which `words.newItem` opens; false if the user must not create one. */
  readonly newItem?: FunctionComponent<NewItemDialog> | false
}

/** A page with one list: the title, what can be done, the list, and beside it the item that the address names. */
export function ObjectsPage<Item>({
  head,
  summary,
  newItem: NewItem = false,
  ...view
}: ObjectsPageProps<Item>) {
  const { source, path, words } = view
  const query = readListQuery(useLocation().query, source)
  const { open } = useSelectedItem(path, query)
  const { button, dialog } = useNewItem(NewItem !== false, words.newItem ?? '', open)
  return (
    <>
      <PageHead title={words.title}>
        {head?.(open)}
        {button}
      </PageHead>
      {summary}
      <ListView {...view} />
      {NewItem && dialog && <NewItem {...dialog} />}
    </>
  )
}
