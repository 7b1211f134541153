import type { AnswerOf, ApiResult, OperationName, QueryOf, RequestOf } from '../../api/operations.ts'
import type { ListPage } from '../../parts/list/list-model.ts'
import type { ListSource } from '../../parts/list/use-list.ts'
import type { ResourceSource } from '../../parts/resource/use-resource.ts'
import { call, downloadList, live } from './platform.ts'

const PAGE_LENGTH = 50

/** The operations that answer a page of a list, and need nothing but a query. */
type ListOperation = {
  [Name in OperationName]: AnswerOf<Name> extends ListPage<unknown>
    ? Record<never, never> extends RequestOf<Name>
      ? Name
      : never
    : never
}[OperationName]

/** An item of the list that the operation answers. */
export type ItemOf<Name extends OperationName> =
  AnswerOf<Name> extends { readonly items: readonly (infer Item)[] } ? Item : never

interface ListOptions<Item, Query> extends Partial<ListSource<Item>> {
  readonly keyOf: (item: Item) => string
  /** The parameters of each request, unless the address has others. */
  readonly query?: Query
}

/** The list of an operation, as the filters of the address say. Without `fromEvent` each event may have changed it. */
export function listOf<Name extends ListOperation>(
  operation: Name,
  prefix: string,
  { query: fixed, ...options }: ListOptions<ItemOf<Name>, QueryOf<Name>>,
): ListSource<ItemOf<Name>> {
  return {
    live,
    prefix,
    filters: [],
    fromEvent: () => 'changed',
    csv: (query) => () => downloadList(operation, { ...(fixed as object), ...query }),
    // `ListOperation` has only operations that take such a query and answer such a page.
    read: (query, signal) =>
      call(
        operation,
        { query: { limit: PAGE_LENGTH, ...fixed, ...query } } as RequestOf<Name>,
        signal,
      ) as Promise<ApiResult<ListPage<ItemOf<Name>>>>,
    ...options,
  }
}

/** The answer of an operation to the request for an id. Without `isAbout` each event concerns it. */
export function resourceOf<Name extends OperationName>(
  operation: Name,
  prefix: string,
  requestOf: (id: string) => RequestOf<Name>,
  options: Partial<ResourceSource<AnswerOf<Name>>> = {},
): ResourceSource<AnswerOf<Name>> {
  return {
    live,
    prefix,
    read: (id, signal) => call(operation, requestOf(id), signal),
    ...options,
  }
}
