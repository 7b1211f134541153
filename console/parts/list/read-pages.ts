import type { ApiResult } from '../../api/operations.ts'
import type { ListPage } from './list-model.ts'

/** Reads the page behind a cursor; without one, the first. */
type ReadPage<Item> = (from: { readonly cursor?: string }) => Promise<ApiResult<ListPage<Item>>>

/** The items of the first pages of a list, and the cursor of the page behind them. */
export async function readPages<Item>(
  read: ReadPage<Item>,
  mostPages = Infinity,
): Promise<ApiResult<ListPage<Item>>> {
  const items: Item[] = []
  let cursor: string | null = null
  for (let pages = 0; pages === 0 || (cursor !== null && pages < mostPages); pages++) {
    const found: ApiResult<ListPage<Item>> = await read(cursor === null ? {} : { cursor })
    if (!found.ok) return found
    items.push(...found.value.items)
    cursor = found.value.next_cursor
  }
  return { ok: true, value: { items, next_cursor: cursor }, etag: null }
}
