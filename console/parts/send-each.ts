import type { ApiFailure, ApiResult } from '../api/operations.ts'

export interface RefusedItem<Item> {
  readonly item: Item
  readonly failure: ApiFailure
}

export interface BulkOutcome<Item> {
  readonly done: number
  readonly refused: readonly RefusedItem<Item>[]
}

/** Sends a change for each item, one after the other. A refused one does not stop the others. */
export async function sendEach<Item>(
  items: readonly Item[],
  send: (item: Item) => Promise<ApiResult<unknown>>,
  onProgress: (sent: number) => void,
): Promise<BulkOutcome<Item>> {
  const refused: RefusedItem<Item>[] = []
  for (const [index, item] of items.entries()) {
    const result = await send(item)
    if (!result.ok) refused.push({ item, failure: result.failure })
    onProgress(index + 1)
  }
  return { done: items.length - refused.length, refused }
}
