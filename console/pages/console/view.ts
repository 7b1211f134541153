export interface ViewProps {
  readonly id?: string
}

export const CONSOLE_PATH = '/console'

/** The path of a page of the console. */
export function pathOf({ name }: { readonly name: string }): string {
  return `${CONSOLE_PATH}/${name}`
}
