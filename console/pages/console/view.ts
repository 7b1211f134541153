export interface ViewProps {
  readonly id?: string
}

export const CONSOLE_PATH = '/console'

/** The path of a page of the console. */
export function pathOf({ name }: { readonly name: string }): string {
  return `${CONSOLE_PATH}/${name}`
}

/** Whether the path of an address is that of this page, or of an object of it. */
export function isPathOf(page: { readonly name: string }, path: string): boolean {
  return `${path}/`.startsWith(`${pathOf(page)}/`)
}
