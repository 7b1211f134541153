import type { PageName } from './page-words.ts'

export interface ViewProps {
  readonly id?: string
}

/** What the drawer of an object gets. */
export interface DetailProps {
  readonly id: string
  readonly onClose: () => void
}

export const CONSOLE_PATH = '/console'

/** The path of a page of the console, or of the object of it with this id. */
export function pathOf(page: PageName, id?: string): string {
  return `${CONSOLE_PATH}/${page}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`
}

/** Whether the path of an address is that of this page, or of an object of it. */
export function isPathOf(page: PageName, path: string): boolean {
  return `${path}/`.startsWith(`${pathOf(page)}/`)
}
