import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** The head of a column. */
export interface TableHead {
  readonly key: string
  readonly title: string
  /** Shown instead of the title. */
  readonly content?: ComponentChildren
  readonly className?: string
  /** How the reader sorts by the column; left out if nobody can. */
  readonly sort?:
    | {
        readonly direction: 'ascending' | 'descending' | 'none'
        readonly onSort: () => void
      }
    | undefined
}

export interface TableProps {
  /** The name of the region around the table. */
  readonly label: string
  readonly heads: readonly TableHead[]
  readonly isBusy?: boolean
  /** The rows. */
  readonly children: ComponentChildren
  /** Below the table, in the same region. */
  readonly footer?: ComponentChildren
}

/** A table in a region that scrolls by keyboard, too. */
export function Table({ label, heads, isBusy = false, children, footer }: TableProps) {
  const frame = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => () => leaveTable(frame.current), [])
  return (
    <div ref={frame} class="table-frame card" role="region" aria-label={label} tabIndex={0}>
      <table class="data-table" aria-busy={isBusy} onPointerOver={nameCutText}>
        <thead>
          <tr>
            {heads.map(({ key, ...head }) => (
              <Head key={key} {...head} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
      {footer}
    </div>
  )
}

/** Gives a text that is cut a title with the whole text, unless it has a title. */
function nameCutText({ target }: PointerEvent): void {
  const place = target instanceof Element ? target.closest<HTMLElement>('.row-link, bdi') : null
  if (!place || place.title !== '') return
  const isCut = place.scrollWidth > place.clientWidth || place.scrollHeight > place.clientHeight
  if (isCut && place.clientWidth > 0) place.title = place.textContent
}

/** The focus of a table that is removed goes to the content of the page: its rows could only pass it to one another. */
function leaveTable(frame: HTMLElement | null): void {
  if (frame?.contains(document.activeElement)) document.querySelector('main')?.focus({ preventScroll: true })
}

function Head({ title, content, className, sort }: Omit<TableHead, 'key'>) {
  return (
    <th scope="col" class={className} aria-sort={sort?.direction}>
      {sort ? (
        <button class="sort" type="button" onClick={sort.onSort}>
          {title}
          <svg class="sort-mark" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
            <path d="M5 2L8.5 8H1.5Z" />
          </svg>
        </button>
      ) : (
        (content ?? title)
      )}
    </th>
  )
}
