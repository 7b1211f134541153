import { invalidField } from './errors.ts'

/** A value that a list is ordered by. */
export type SortValue = string | number | null

/** A column that a list is ordered by. */
export interface SortKey<Name extends string = string> {
  /** The column's member in a row: `notAfter`. */
  readonly name: Name
  /** Integers are safe integers. Texts are sorted by bytes, and have up to 100 characters: they are in the cursor. */
  readonly type: 'integer' | 'text'
  readonly direction: 'asc' | 'desc'
  /** Rows without a value are last, in either direction. */
  readonly nullable?: boolean
}

/**
 * An order of a list. The values of the keys never change for a row, or else a listing may skip or repeat it. The last key
 * is unique and never null, so that no two rows are at the same position.
 */
export interface PageOrder<Name extends string = string> {
  /** Stable and unique among the orders of a list: a cursor names its order. */
  readonly name: string
  readonly keys: readonly SortKey<Name>[]
}

/** The order of a list unless it has others: by the number that the database assigns. */
export const NEWEST_FIRST = orderByIntegers('newest', 'desc', ['seq'])

/** The order of a history: by the number that the database assigns. */
export const OLDEST_FIRST = orderByIntegers('oldest', 'asc', ['seq'])

/** An order by integers, the first one first; the last one is unique. */
export function orderByIntegers<Name extends string>(
  name: string,
  direction: SortKey['direction'],
  keys: readonly Name[],
): PageOrder<Name> {
  return { name, keys: keys.map((key) => ({ name: key, type: 'integer', direction })) }
}

/** An order by one text, which is unique. */
export function orderByText<Name extends string>(name: string, key: Name): PageOrder<Name> {
  return { name, keys: [{ name: key, type: 'text', direction: 'asc' }] }
}

/** The position of a row in an order of a list. */
export interface PagePosition {
  /** The name of the list, unique among the lists; a position without it is of any. */
  readonly list?: string
  /** The name of the order. */
  readonly order: string
  /** The row's value for each key of the order. */
  readonly values: readonly SortValue[]
}

/** The requested part of a list whose orders have keys with these names. */
export interface PageRequest<Name extends string = 'seq'> {
  /** The maximum number of items. */
  readonly limit: number
  /** {@link NEWEST_FIRST} when left out. */
  readonly order?: PageOrder<Name>
  /** Only rows behind this position are listed. Null, or left out: the first page. */
  readonly after?: PagePosition | null
  /** Only rows created at this time or later, in epoch milliseconds. */
  readonly createdFrom?: number
  /** Only rows created before this time, in epoch milliseconds. */
  readonly createdTo?: number
}

/** A part of a list. */
export interface Page<T> {
  readonly items: readonly T[]
  /** `after` of the next page, or null on the last page. */
  readonly next: PagePosition | null
}

/** A page of rows that were read with one more than `limit`: the extra row only shows that there is a next page. */
export function pageOf<R extends Readonly<Record<Name, SortValue>>, Name extends string>(
  rows: readonly R[],
  limit: number,
  order: PageOrder<Name>,
  list: string,
): Page<R> {
  const items = rows.slice(0, limit)
  return { items, next: rows.length > limit ? positionOf(items.at(-1), order, list) : null }
}

/** The position of a row in an order; null without a row. */
export function positionOf<R extends Readonly<Record<Name, SortValue>>, Name extends string>(
  row: R | undefined,
  { name: order, keys }: PageOrder<Name>,
  list: string,
): PagePosition | null {
  return row ? { list, order, values: keys.map(({ name }) => row[name]) } : null
}

/** Throws `validation_failed` for the position of another list. */
export function requireList(after: PagePosition | null | undefined, list: string): void {
  if (after?.list !== undefined && after.list !== list) throw invalidField('cursor', 'other_cursor')
}

/** A page of what is in memory, in the order of its names. */
export function pageOfNamed<T, Name extends string>(
  items: readonly T[],
  nameOf: (item: T) => string,
  { after, limit }: Pick<PageRequest<Name>, 'after' | 'limit'>,
  { order, list }: { readonly order: PageOrder<Name>; readonly list: string },
): Page<T> {
  requireList(after, list)
  const [last = ''] = after?.values ?? []
  const rest = items.filter((item) => nameOf(item) > String(last))
  const page = rest.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1)).slice(0, limit)
  const end = page.at(-1)
  const isMore = rest.length > limit && end !== undefined
  return { items: page, next: isMore ? { list, order: order.name, values: [nameOf(end)] } : null }
}

/** All items of a list that is read page by page. */
export async function readPages<T>(readPage: (after: PagePosition | null) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = []
  let after: PagePosition | null = null
  do {
    const page: Page<T> = await readPage(after)
    items.push(...page.items)
    after = page.next
  } while (after)
  return items
}

/** The same page with each item converted. */
export function mapPage<T, U>({ items, next }: Page<T>, convert: (item: T) => U): Page<U> {
  return { items: items.map(convert), next }
}
