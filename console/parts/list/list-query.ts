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
      /** The words for a text that is a name of the API. */
      readonly wordsOf?: (text: string) => string
    }
  | {
      readonly name: string
      readonly kind: 'period'
      /** The parameters of the API for its begin, if it has one, and its end; `name_from` and `name_to` by default. */
      readonly parameters?: readonly [from: string | null, to: string]
      /** The periods to choose from; default: the periods that end now. */
      readonly words?: readonly PeriodWord[]
    }

export type PeriodFilter = Extract<ListFilter, { kind: 'period' }>

/** An order of a list. */
export interface ListSort {
  /** As the API names it; empty for the order that the list has by itself. */
  readonly value: string
  /** The column that it sorts by. */
  readonly column: string
  readonly direction: 'ascending' | 'descending'
}

/** What the address of a list may say. */
export interface ListShape {
  readonly filters: readonly ListFilter[]
  /** The orders to choose from; that of the list itself has no value. */
  readonly sorts?: readonly ListSort[]
  /** The value of the order that the filters lead to; undefined where the sort of the query decides. */
  readonly sortedBy?: (query: ListQuery) => string | undefined
}

/** What is asked of a list, by the names of the API. */
export type ListQuery = Readonly<Record<string, string>>

const CURSOR = 'cursor'
const SORT = 'sort'
const COLUMNS = 'columns'
// Whether a list or a board shows the items.
const VIEW = 'view'
const NO_FILTERS = new Set([CURSOR, SORT, COLUMNS, VIEW])

/** The parameters of an address that the list knows, without values that their filters do not have. */
export function readListQuery(query: ListQuery, { filters, sorts = [] }: ListShape): ListQuery {
  const { [CURSOR]: cursor, [SORT]: sort, [COLUMNS]: columns } = query
  return {
    ...Object.fromEntries(filters.flatMap((filter) => readFilter(filter, query))),
    ...(sort && sorts.some(({ value }) => value === sort) && { [SORT]: sort }),
    ...(columns && { [COLUMNS]: columns }),
    ...(cursor && { [CURSOR]: cursor }),
  }
}

function readFilter(filter: ListFilter, query: ListQuery): (readonly [name: string, value: string])[] {
  return parametersOf(filter).flatMap((name) => {
    const value = query[name] ?? ''
    return isPossible(filter, name, value) ? [[name, value] as const] : []
  })
}

function isPossible(filter: ListFilter, name: string, value: string): boolean {
  if (filter.kind === 'choice') return filter.values.includes(value)
  if (filter.kind !== 'period') return value !== ''
  return name === filter.name ? isPeriodWord(value) : !Number.isNaN(Date.parse(value))
}

/** The parameters of the address in which a filter is. */
export function parametersOf(filter: ListFilter): readonly string[] {
  if (filter.kind !== 'period') return [filter.name]
  return [filter.name, ...boundsOf(filter).filter((name) => name !== null)]
}

/** The parameters of a period that is given by its times. */
export function boundsOf({ name, parameters }: PeriodFilter): readonly [from: string | null, to: string] {
  return parameters ?? [`${name}_from`, `${name}_to`]
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

interface Period {
  readonly from?: number
  readonly to?: number
}

/** Periods that move with the time, as the address names them; epoch milliseconds. */
const PERIODS = {
  'last-10m': (now: number): Period => ({ from: now - 10 * MINUTE_MS }),
  'last-1h': (now: number): Period => ({ from: now - HOUR_MS }),
  today: (now: number): Period => ({ from: midnight(now, 0), to: midnight(now, 1) }),
  'last-24h': (now: number): Period => ({ from: now - DAY_MS }),
  'last-7d': (now: number): Period => ({ from: now - 7 * DAY_MS }),
  'last-30d': (now: number): Period => ({ from: now - 30 * DAY_MS }),
  overdue: (now: number): Period => ({ to: now }),
  'next-10m': (now: number): Period => ({ from: now, to: now + 10 * MINUTE_MS }),
  'next-1h': (now: number): Period => ({ from: now, to: now + HOUR_MS }),
  'next-24h': (now: number): Period => ({ from: now, to: now + DAY_MS }),
  'next-7d': (now: number): Period => ({ from: now, to: now + 7 * DAY_MS }),
  'next-30d': (now: number): Period => ({ from: now, to: now + 30 * DAY_MS }),
} as const

export type PeriodWord = keyof typeof PERIODS

const PAST_WORDS: readonly PeriodWord[] = ['last-10m', 'last-1h', 'today', 'last-24h', 'last-7d', 'last-30d']

export function isPeriodWord(text: string): text is PeriodWord {
  return Object.hasOwn(PERIODS, text)
}

/** The periods that a filter offers. */
export function periodWordsOf({ words = PAST_WORDS }: PeriodFilter): readonly PeriodWord[] {
  return words
}

/** When the day begins that is so many days later, in the time zone of the reader. */
function midnight(now: number, daysLater: number): number {
  const day = new Date(now)
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + daysLater).getTime()
}

/** The query as the API has it: with the times of its periods at `now`. */
export function queryOfApi(query: ListQuery, filters: readonly ListFilter[], now: number): ListQuery {
  const { [COLUMNS]: _, ...filterQuery } = query
  const periods = filters.filter((filter) => filter.kind === 'period')
  return periods.reduce((changed, filter) => withTimes(changed, filter, now), filterQuery)
}

function withTimes(query: ListQuery, filter: PeriodFilter, now: number): ListQuery {
  const { [filter.name]: word, ...others } = query
  if (word === undefined || !isPeriodWord(word)) return query
  const { from, to } = PERIODS[word](now)
  const [fromName, toName] = boundsOf(filter)
  return {
    ...others,
    ...(from !== undefined && fromName !== null && { [fromName]: new Date(from).toISOString() }),
    ...(to !== undefined && { [toName]: new Date(to).toISOString() }),
  }
}

/** Whether what the query finds changes with the time alone. */
export function hasMovingPeriod(query: ListQuery, filters: readonly ListFilter[]): boolean {
  return filters.some(({ kind, name }) => kind === 'period' && isPeriodWord(query[name] ?? ''))
}

/** The address of the same list with another filter; it begins with the first page again. */
export function withFilter(path: string, query: ListQuery, name: string, value: string): string {
  return withParameters(path, query, { [name]: value })
}

/** The same with several parameters; an empty one is left out. */
export function withParameters(path: string, query: ListQuery, values: ListQuery): string {
  const { [CURSOR]: _, ...others } = { ...query, ...values }
  return addressOf(path, Object.fromEntries(Object.entries(others).filter(([, value]) => value !== '')))
}

/** The query without its filters. */
export function withoutFilters(query: ListQuery): ListQuery {
  const kept = Object.entries(query).filter(([name]) => name !== CURSOR && NO_FILTERS.has(name))
  return Object.fromEntries(kept)
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
  return Object.keys(query).some((name) => !NO_FILTERS.has(name))
}

/** Whether a period of the query ends before it begins: then no item is in it. */
export function hasEmptyPeriod(query: ListQuery, filters: readonly ListFilter[]): boolean {
  return filters.some((filter) => {
    if (filter.kind !== 'period') return false
    const [from, to] = boundsOf(filter).map((name) => query[name ?? ''])
    return from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to)
  })
}

/** How the text filters of the query compare; `part` without one, which needs no hint. */
export function textMatchOf(filters: readonly ListFilter[], query: ListQuery): TextMatch {
  const used = filters.find(
    (filter) => filter.kind === 'text' && filter.match !== 'part' && query[filter.name] !== undefined,
  )
  return used?.kind === 'text' ? (used.match ?? 'whole') : 'part'
}
