import { useLocation } from 'preact-iso/router'
import { addressOf, type ListQuery } from './list-query.ts'

export interface SelectedItem {
  /** The address of one object beside its list. */
  readonly hrefOf: (id: string) => string
  readonly open: (id: string) => void
  /** Shows the list alone; the focus returns to the row, or without it to the content of the page. */
  readonly close: () => void
}

/** Which object of a list is shown: the part of the path behind that of the list. */
export function useSelectedItem(path: string, query: ListQuery): SelectedItem {
  const { route } = useLocation()
  const hrefOf = (id: string) => addressOf(`${path}/${encodeURIComponent(id)}`, query)
  return {
    hrefOf,
    open: (id) => route(hrefOf(id)),
    close() {
      const row = document.querySelector<HTMLElement>('.row-link[aria-current]')
      route(addressOf(path, query))
      const target = row ?? document.querySelector('main')
      target?.focus()
    },
  }
}
