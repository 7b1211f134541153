import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import { useCallback, useEffect, useRef } from 'preact/hooks'
import { serverClock } from '../../api/browser.ts'
import { localNumber } from '../../i18n/local.ts'
import { Button } from '../button.tsx'
import { HowToBegin } from '../how-to-begin.tsx'
import { Icon } from '../icon.tsx'
import type { IconName } from '../icons.ts'
import { ListAndDetail } from '../list-and-detail.tsx'
import { partWords } from '../part-words.ts'
import { EmptyState } from '../states.tsx'
import { useDownload } from '../use-download.ts'
import { DataTable, type RowGroups, type TableColumn } from './data-table.tsx'
import { FilterBar } from './filter-bar.tsx'
import { ColumnsMenu, shownColumns, ViewsMenu } from './list-menus.tsx'
import type { ListModel } from './list-model.ts'
import {
  hasEmptyPeriod,
  isFiltered,
  textMatchOf,
  isFirstPage,
  queryOfApi,
  withCursor,
  withParameters,
  type ListQuery,
  type ListShape,
  type ListSort,
} from './list-query.ts'
import { ListRefresh } from './list-refresh.ts'
import { listWords, type ListWords } from './list-words.ts'
import type { TableHead } from './table.tsx'
import { SelectionBar, type Bulk, type SelectionBarProps } from './selection.tsx'
import { useList, type ListSource } from './use-list.ts'
import { useSelectedItem } from './use-selected-item.ts'

/** What the drawer of a list gets. */
export interface ListDetail<Item> {
  readonly id: string
  /** The item, if it is on the page of the list. */
  readonly item: Item | undefined
  readonly onClose: () => void
}

export interface ListViewProps<Item> {
  /** The path of the list in the console. */
  readonly path: string
  readonly source: ListSource<Item>
  readonly words: ListWords
  /** The words for a value of a filter. */
  readonly labelOf?: (name: string, value: string) => string
  readonly columns: readonly TableColumn<Item>[]
  /** Which rows fold into one line. */
  readonly groups?: RowGroups<Item> | undefined
  /** Why a query can find nothing, if that is known. */
  readonly noMatchReason?: (query: ListQuery) => string | undefined
  readonly icon: IconName
  /** The search of the list, where it has no filter for texts. */
  readonly findBox?: ComponentChildren
  /** The key of the item that is shown beside the list. */
  readonly id?: string | undefined
  /** What can be done with several items; false if the user must not do any of it. */
  readonly bulk?: Bulk<Item> | false
  /** Draws that item; nothing if it cannot be shown. */
  readonly detail: (detail: ListDetail<Item>) => ComponentChildren
}

/** A list with its filters and its pages, and one of its items beside it. */
export function ListView<Item>(props: ListViewProps<Item>) {
  const { path, source, words, labelOf = (_, value) => value, columns, icon, id, bulk, detail } = props
  const { keyOf, filters } = source
  const { model, query } = useList(source)
  const { hrefOf, close } = useSelectedItem(path, query)
  const { route } = useLocation()
  const selection = useSignal<ReadonlySet<string>>(new Set())
  const { matchHints, emptyPeriod } = partWords()
  const reason = hasEmptyPeriod(query, filters) ? emptyPeriod : props.noMatchReason?.(query)
  const hint = reason ?? matchHints[textMatchOf(filters, query)]
  // The page is not read without need: each of its changes would draw filters and rows again.
  const item = id === undefined ? undefined : model.page.value?.items.find((row) => keyOf(row) === id)
  const refresh = useCallback(() => void model.refreshInBackground(), [model])
  // An item that was just created is shown beside the list before its event comes.
  useEffect(() => {
    if (id !== undefined && !item && model.page.peek()) void model.refreshInBackground()
  }, [id])
  const sort = sortOf(source, query)
  const visible = shownColumns(columns, path, query, sort?.column)
  // A column that is there because of the order is not chosen.
  const menu = { path, query, columns, visible: shownColumns(columns, path, query, undefined) }
  return (
    <>
      <FilterBar
        path={path}
        filters={filters}
        query={query}
        words={words}
        labelOf={labelOf}
        findBox={props.findBox}
      >
        <ViewsMenu {...menu} />
        {columns.length > 1 && <ColumnsMenu {...menu} />}
        {source.csv?.(query) && <ExportButton source={source} query={query} />}
      </FilterBar>
      <ListRefresh.Provider value={refresh}>
        <ListAndDetail detail={id !== undefined && detail({ id, item, onClose: close })}>
          <DataTable
            label={words.list}
            model={model}
            keyOf={keyOf}
            columns={visible}
            sortOf={(key) =>
              headSort(source, query, key, (value) => route(withParameters(path, query, { sort: value })))
            }
            hrefOf={(row) => hrefOf(keyOf(row))}
            selected={id ?? null}
            groups={props.groups}
            selection={bulk ? { chosen: selection, titleOf: bulk.titleOf } : undefined}
            empty={
              <EmptyState icon={icon} title={(isFiltered(query) && words.noMatch) || words.empty}>
                {hint && <p>{hint}</p>}
                {!isFiltered(query) && words.how && <HowToBegin {...words.how} />}
              </EmptyState>
            }
          />
          {bulk && <PageSelection bulk={bulk} selection={selection} model={model} keyOf={keyOf} />}
          <Pager path={path} query={query} model={model} />
        </ListAndDetail>
      </ListRefresh.Provider>
    </>
  )
}

interface ExportButtonProps<Item> {
  readonly source: ListSource<Item>
  readonly query: ListQuery
}

/** Saves all pages of the list, as it is filtered and sorted, as a table. */
function ExportButton<Item>({ source, query }: ExportButtonProps<Item>) {
  const { exportList, exportHint } = listWords()
  const { cursor: _, ...whole } = query
  const { run, runningTitle } = useDownload(async () => {
    const fetchFile = source.csv?.(queryOfApi(whole, source.filters, serverClock.now()))
    if (!fetchFile) throw new Error('The list has no table.')
    return fetchFile()
  })
  return (
    <Button icon="download" title={exportHint} onClick={() => void run()}>
      <span class="bar-label">{runningTitle ?? exportList}</span>
    </Button>
  )
}

/** How the list is sorted, if it can be sorted otherwise. */
function sortOf({ sorts = [], sortedBy }: ListShape, query: ListQuery): ListSort | undefined {
  const value = sortedBy?.(query) ?? query['sort'] ?? ''
  return sorts.find((sort) => sort.value === value)
}

/** What the head of a column does if the list can be sorted by it. */
function headSort(
  shape: ListShape,
  query: ListQuery,
  key: string,
  sortBy: (value: string) => void,
): TableHead['sort'] {
  const columnSort = shape.sorts?.find(({ column }) => column === key)
  if (!columnSort) return undefined
  const isSorted = sortOf(shape, query) === columnSort
  return {
    direction: isSorted ? columnSort.direction : 'none',
    onSort: () => sortBy(isSorted ? '' : columnSort.value),
  }
}

type PageSelectionProps<Item> = Omit<SelectionBarProps<Item>, 'items'> & { readonly model: ListModel<Item> }

/** This part reads the page by itself, so that a change of the page draws nothing else. */
function PageSelection<Item>({ model, ...bar }: PageSelectionProps<Item>) {
  return <SelectionBar {...bar} items={model.page.value?.items ?? []} />
}

interface PagerProps<Item> {
  readonly path: string
  readonly query: ListQuery
  readonly model: ListModel<Item>
}

/** Moves through the pages of a list. A cursor knows only what follows, so the way back is the browser's own. */
function Pager<Item>({ path, query, model }: PagerProps<Item>) {
  const { back } = useLocation()
  const page = model.page.value
  const words = partWords()
  const lastCursor = useRef(query['cursor'])
  // Another page is read from its begin; the router scrolls for another path only.
  useEffect(() => {
    if (lastCursor.current !== query['cursor']) scrollTo(0, 0)
    lastCursor.current = query['cursor']
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
          <Button icon="newer" onClick={back}>
            {words.newer}
          </Button>
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
