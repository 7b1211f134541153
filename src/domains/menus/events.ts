import type { MenuChange } from './model.ts'

/** docs/specification.md, Events */
export const MENU_EVENTS = { changed: 'menu.changed' } as const

/** The object of every event of the tree. */
export const TREE_ID = 'menus'

/** What a change did, in its event. */
export interface MenuEventData extends Omit<MenuChange, 'unchanged'> {
  /** Only there when ids were left out. */
  readonly truncated?: true
}

// The bus refuses a message of more than 1 MiB (the default of NATS). 10,000 deleted and 10,000 created ids may have more.
const EVENT_ID_BYTES = 768 * 1024
const QUOTES_AND_COMMA = 3

/** The change with as many ids as fit into an event. */
export function menuEventData({ revision, created, updated, moved, deleted }: MenuChange): MenuEventData {
  let bytes = 0
  const fitting = (ids: readonly string[]) =>
    ids.filter((id) => (bytes += id.length + QUOTES_AND_COMMA) <= EVENT_ID_BYTES)
  const data = {
    revision,
    created: fitting(created),
    updated: fitting(updated),
    moved: fitting(moved),
    deleted: fitting(deleted),
  }
  return bytes > EVENT_ID_BYTES ? { ...data, truncated: true } : data
}
