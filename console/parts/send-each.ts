import type { ApiFailure, ApiResult } from '../api/operations.ts'

export interface SentEach {
  readonly done: number
  /** Why the first one was refused that was refused. */
  readonly failure: ApiFailure | null
}

/** Sends a change for each item, one after the other. A refused one does not stop the others. */
export async function sendEach<Item>(
  items: readonly Item[],
  send: (item: Item) => Promise<ApiResult<unknown>>,
  onProgress: (sent: number) => void,
): Promise<SentEach> {
  let done = 0
  let failure: ApiFailure | null = null
  for (const [index, item] of items.entries()) {
    const result = await send(item)
    if (result.ok) done++
    else failure ??= result.failure
    onProgress(index + 1)
  }
  return { done, failure }
}
