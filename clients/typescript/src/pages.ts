import type { AnyPage } from './operations.ts'
import type { AnyRequest } from './prepared-call.ts'

/** The pages of a list from the request's cursor on; each is requested when the loop gets there. */
export async function* pagesOf(
  read: (request: AnyRequest) => Promise<unknown>,
  request: AnyRequest = {},
): AsyncGenerator<AnyPage, void> {
  let { query = {} } = request
  for (;;) {
    const page = (await read({ ...request, query })) as AnyPage
    yield page
    if (page.next_cursor === null) return
    query = { ...query, cursor: page.next_cursor }
  }
}

export async function* itemsOf(pages: AsyncIterable<AnyPage>): AsyncGenerator<unknown, void> {
  for await (const { items } of pages) yield* items
}
