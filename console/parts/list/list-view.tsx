import type { ComponentChildren } from 'preact'
import type { IconName } from '../icons.ts'
import { ListAndDetail } from '../list-and-detail.tsx'
import { EmptyState } from '../states.tsx'
import { DataTable, type TableColumn } from './data-table.tsx'
import { FilterBar } from './filter-bar.tsx'
import { isFiltered } from './list-query.ts'
import { Pager } from './pager.tsx'
import type { ListSource, UsedList } from './use-list.ts'

export interface ListViewProps<Item> {
  /** The path of the list in the console. */
  readonly path: string
  readonly source: ListSource<Item>
  readonly list: UsedList<Item>
  readonly words: ListWords
  /** The words for a value of a filter. */
  readonly labelOf: (name: string, value: string) => string
  readonly columns: readonly TableColumn<Item>[]
  readonly icon: IconName
  readonly hrefOf: (item: Item) => string
  /** The key of the item that is shown beside the list. */
  readonly selected?: string | undefined
  readonly detail?: ComponentChildren
}

/** The words of every list. */
export interface ListWords {
  /** The name of the table. */
  readonly list: string
  readonly empty: string
  readonly noMatch: string
  /** By the names of the API. */
  readonly fields: Readonly<Record<string, string>>
}

/** A list with its filters and its pages, and one of its items beside it. */
export function ListView<Item>(props: ListViewProps<Item>) {
  const { path, source, list, words, labelOf, columns, icon, hrefOf, selected, detail } = props
  const { model, query } = list
  return (
    <>
      {source.filters.length > 0 && (
        <FilterBar
          path={path}
          filters={source.filters}
          query={query}
          labels={words.fields}
          labelOf={labelOf}
        />
      )}
      <ListAndDetail detail={detail}>
        <DataTable
          label={words.list}
          model={model}
          keyOf={source.keyOf}
          columns={columns}
          hrefOf={hrefOf}
          selected={selected ?? null}
          empty={<EmptyState icon={icon} title={isFiltered(query) ? words.noMatch : words.empty} />}
        />
        <Pager path={path} query={query} model={model} />
      </ListAndDetail>
    </>
  )
}
