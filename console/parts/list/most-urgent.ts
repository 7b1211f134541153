import type { ApiResult } from '../../api/operations.ts'
import type { ListPage } from './list-model.ts'

export interface UrgentReading<Item, Level> {
  /** Reads the newest items of a level; without a level, those of all. */
  readonly read: (level?: Level) => Promise<ApiResult<ListPage<Item>>>
  /** The most urgent one is first. */
  readonly levels: readonly Level[]
  /** How many items are enough. */
  readonly enough: number
}

/**
 * The most urgent items of a list. If the list does not fit into one page, it is read level by level until there are enough
 * items, because the newest page may have none of the urgent levels.
 */
export async function readMostUrgent<Item, Level>({
  read,
  levels,
  enough,
}: UrgentReading<Item, Level>): Promise<ApiResult<ListPage<Item>>> {
  const newest = await read()
  if (!newest.ok || newest.value.next_cursor === null) return newest
  const items: Item[] = []
  for (const level of levels) {
    const found = await read(level)
    if (!found.ok) return found
    items.push(...found.value.items)
    if (items.length >= enough) break
  }
  return { ...newest, value: { ...newest.value, items } }
}
