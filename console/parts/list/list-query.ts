export type TextMatch = 'whole' | 'part' | 'beginning'

/** A filter of a list, which the address of the page keeps. */
export type ListFilter =
  | {
      readonly name: string
      readonly kind: 'choice'
      readonly values: readonly string[]
      /** What the list shows without the filter, if that is not everything. */
      readonly preset?: string
    }
  | {
      readonly name: string
      readonly kind: 'reference'
      /** The ids to choose from; the address may have another one. */
      readonly choices: () => readonly string[]
    }
  | {
      readonly name: string
      readonly kind: 'text'
      /** What an item must have: the same text (default), the text as a part of one, or at the beginning of one. */
      readonly match?: TextMatch
      /** Whether another part of the page shows it. */
      readonly isElsewhere?: boolean
      /** Texts to choose from, such as those in the list; any other can be typed. */
      readonly suggestions?: () => readonly string[]
    }
  | { readonly name: string; readonly kind: 'time' }

/** What is asked of a list, by the names of the API. */
export type ListQuery = Readonly<Record<string, string>>

const CURSOR = 'cursor'

/** The parameters of the address that the list has; a value that a filter does not have is left out. */
export function readListQuery(query: ListQuery, filters: readonly ListFilter[]): ListQuery {
  const own = filters.flatMap((filter) => {
    const value = query[filter.name] ?? ''
    return isPossible(filter, value) ? [[filter.name, value] as const] : []
  })
  const cursor = query[CURSOR]
  return Object.fromEntries([...own, ...(cursor ? [[CURSOR, cursor] as const] : [])])
}

function isPossible(filter: ListFilter, value: string): boolean {
  if (filter.kind === 'choice') return filter.values.includes(value)
  return filter.kind === 'time' ? !Number.isNaN(Date.parse(value)) : value !== ''
}

/** The address of the same list with another filter; it begins with the first page again. */
export function withFilter(path: string, query: ListQuery, name: string, value: string): string {
  const { [CURSOR]: _, [name]: __, ...others } = query
  return addressOf(path, value === '' ? others : { ...others, [name]: value })
}

/** The address of another page of the same list; without a cursor the first one. */
export function withCursor(path: string, query: ListQuery, cursor: string | null): string {
  const { [CURSOR]: _, ...filters } = query
  return addressOf(path, cursor === null ? filters : { ...filters, [CURSOR]: cursor })
}

export function addressOf(path: string, query: ListQuery): string {
  const search = new URLSearchParams(query).toString()
  return search ? `${path}?${search}` : path
}

export function isFirstPage(query: ListQuery): boolean {
  return query[CURSOR] === undefined
}

export function isFiltered(query: ListQuery): boolean {
  return Object.keys(query).some((name) => name !== CURSOR)
}

/** Whether a period of the query ends before it begins: then no item is in it. */
export function hasEmptyPeriod(query: ListQuery): boolean {
  return Object.entries(query).some(([name, from]) => {
    const to = name.endsWith('_from') ? query[name.replace(/_from$/, '_to')] : undefined
    return to !== undefined && Date.parse(from) >= Date.parse(to)
  })
}

/** How the texts of the query are compared; `part` if it has none, as nothing is to be said of that. */
export function textMatchOf(filters: readonly ListFilter[], query: ListQuery): TextMatch {
  const used = filters.find(
    (filter) => filter.kind === 'text' && filter.match !== 'part' && query[filter.name] !== undefined,
  )
  return used?.kind === 'text' ? (used.match ?? 'whole') : 'part'
}
