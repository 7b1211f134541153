import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useActions } from '../actions/actions.ts'
import { Icon } from '../icon.tsx'
import { Failed, Loading } from '../states.tsx'
import type { ListModel } from './list-model.ts'
import { listWords } from './list-words.ts'
import { SelectBox, SelectPage, type ChosenKeys } from './selection.tsx'
import { Table, type TableHead } from './table.tsx'

export interface TableColumn<Item> {
  readonly key: string
  readonly title: string
  readonly cell: (item: Item) => ComponentChildren
  readonly isNumeric?: boolean
  /** Whether it is hidden unless the user chooses it, or sorts by it. */
  readonly isOptional?: boolean
  /** Whether it is hidden where the list is narrow. */
  readonly isWideOnly?: boolean
  /**
   * Whether a list as narrow as a phone shows it below the first column; with `isWideOnly` only a wide list has it as a
   * column.
   */
  readonly isFromMedium?: boolean
}

export interface DataTableProps<Item> {
  /** The name of the list. */
  readonly label: string
  readonly model: ListModel<Item>
  readonly keyOf: (item: Item) => string
  /** The first one has the link to the object. */
  readonly columns: readonly TableColumn<Item>[]
  readonly hrefOf: (item: Item) => string
  /** How the head of a column sorts the list, for a list that can be sorted. */
  readonly sortOf?: (key: string) => TableHead['sort']
  /** The key of the object that is shown beside the list. */
  readonly selected: string | null
  readonly groups?: RowGroups<Item> | undefined
  /** Lets the user choose several items. */
  readonly selection?: RowSelection<Item> | undefined
  /** Shown when the list has no items. */
  readonly empty: ComponentChildren
}

export interface RowSelection<Item> {
  readonly chosen: ChosenKeys
  readonly titleOf: (item: Item) => string
}

/** Many items of one kind are one line, which unfolds. */
export interface RowGroups<Item> {
  readonly keyOf: (item: Item) => string
  /** What stands for the items of a group. */
  readonly line: (items: readonly [Item, ...Item[]]) => ComponentChildren
}

/** A page of a list as a table: `j` and `k` move through its rows. */
export function DataTable<Item>(props: DataTableProps<Item>) {
  const { label, model, empty } = props
  const words = listWords()
  useActions(() => [
    { title: words.nextRow, keys: 'j', isKeyOnly: true, run: () => focusRow(1) },
    { title: words.previousRow, keys: 'k', isKeyOnly: true, run: () => focusRow(-1) },
  ])
  const page = model.page.value
  const failure = model.failure.value
  const changed = model.changed.value
  const failed = failure && <Failed failure={failure} onRetry={() => void model.refresh()} />
  if (!page) return failed ?? <Loading />
  return (
    <>
      {failed}
      {page.items.length === 0 ? (
        empty
      ) : (
        <Table label={label} heads={headsOf(props, page.items)} isBusy={model.isLoading.value}>
          <Rows items={page.items} table={props} changed={changed} />
        </Table>
      )}
    </>
  )
}

interface RowsProps<Item> {
  readonly items: readonly Item[]
  readonly table: DataTableProps<Item>
  /** The keys of the rows that changed last. */
  readonly changed: ReadonlySet<string>
}

// Fewer rows are not worth folding.
const LEAST_FOLDED = 6

/** The rows, groups of many folded. A group with the object beside the list is unfolded. */
function Rows<Item>({ items, table, changed }: RowsProps<Item>) {
  const unfolded = useSignal<ReadonlySet<string>>(new Set())
  const { keyOf, selected, groups, columns } = table
  const row = (item: Item) => (
    <Row key={keyOf(item)} item={item} table={table} isChanged={changed.has(keyOf(item))} />
  )
  if (!groups) return <>{items.map(row)}</>
  return (
    <>
      {[...Map.groupBy(items, groups.keyOf)].flatMap(([key, members]) => {
        const [first, ...others] = members
        if (!first || members.length < LEAST_FOLDED) return members.map(row)
        const isOpen = unfolded.value.has(key) || members.some((item) => keyOf(item) === selected)
        const toggle = () => (unfolded.value = unfolded.peek().symmetricDifference(new Set([key])))
        const line = (
          <tr key={`group ${key}`} class="row-group">
            <td colSpan={columns.length + (table.selection ? 1 : 0)}>
              <button class="row-fold" type="button" aria-expanded={isOpen} onClick={toggle}>
                <Icon name="older" />
                {groups.line([first, ...others])}
              </button>
            </td>
          </tr>
        )
        return [line, ...(isOpen ? members.map(row) : [])]
      })}
    </>
  )
}

interface RowProps<Item> {
  readonly item: Item
  readonly table: DataTableProps<Item>
  readonly isChanged: boolean
}

/** A row reads no signal of the list, so that a change of one row does not draw the others. */
function Row<Item>({ item, table, isChanged }: RowProps<Item>) {
  const { columns, keyOf, hrefOf, selected, selection } = table
  const key = keyOf(item)
  const classes = [key === selected && 'row-selected', isChanged && 'row-changed']
  const [first, ...others] = columns
  const row = useRef<HTMLTableRowElement>(null)
  useLayoutEffect(() => () => leaveRow(row.current), [])
  return (
    <tr ref={row} class={classes.filter(Boolean).join(' ')}>
      {selection && (
        <td class="select-column wide-column">
          <SelectBox selection={selection.chosen} id={key} title={selection.titleOf(item)} />
        </td>
      )}
      {first && (
        <th scope="row" class={columnClass(first)}>
          <a class="row-link" href={hrefOf(item)} {...(key === selected && { 'aria-current': 'true' })}>
            {first.cell(item)}
          </a>
          <NarrowLines item={item} columns={others} />
        </th>
      )}
      {others.map((column) => (
        <td key={column.key} class={columnClass(column)}>
          {column.cell(item)}
        </td>
      ))}
    </tr>
  )
}

interface NarrowLinesProps<Item> {
  readonly item: Item
  readonly columns: readonly TableColumn<Item>[]
}

/** The columns for which a phone has no room. */
function NarrowLines<Item>({ item, columns }: NarrowLinesProps<Item>) {
  return columns
    .filter(({ isFromMedium }) => isFromMedium)
    .map(({ key, title, cell }) => (
      <div key={key} class="narrow-line">
        <span class="visually-hidden">{title} </span>
        {cell(item)}
      </div>
    ))
}

function headsOf<Item>(
  { columns, sortOf, selection, keyOf }: DataTableProps<Item>,
  items: readonly Item[],
): TableHead[] {
  const select = selection && {
    key: 'select',
    title: listWords().selectPage,
    className: 'select-column wide-column',
    content: <SelectPage selection={selection.chosen} keys={items.map(keyOf)} />,
  }
  const heads = columns.map((column) => ({
    key: column.key,
    title: column.title,
    className: columnClass(column),
    sort: sortOf?.(column.key),
  }))
  return select ? [select, ...heads] : heads
}

function columnClass<Item>({ isNumeric, isWideOnly, isFromMedium }: TableColumn<Item>): string {
  return [isNumeric && 'numeric', isWideOnly && 'wide-column', isFromMedium && 'medium-column']
    .filter(Boolean)
    .join(' ')
}

/** The focus of a row that is removed goes to the next one: without it the keyboard would begin again with the page. */
function leaveRow(row: HTMLElement | null): void {
  if (!row?.contains(document.activeElement)) return
  const other = row.nextElementSibling ?? row.previousElementSibling
  other?.querySelector<HTMLElement>('.row-link, .row-fold')?.focus({ preventScroll: true })
}

function focusRow(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('.row-link, .row-fold')]
  const current = links.findIndex((link) => link === document.activeElement)
  const selected = links.findIndex((link) => link.ariaCurrent === 'true')
  const from = current === -1 ? selected : current
  links[from === -1 ? 0 : Math.min(links.length - 1, Math.max(0, from + step))]?.focus()
}
