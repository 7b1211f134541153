import { batch, signal } from '@preact/signals'
import type { ApiFailure, ApiResult } from '../../api/operations.ts'
import { isFiltered, isFirstPage, type ListQuery } from './list-query.ts'

/** A page of a list as the API answers it. */
export interface ListPage<Item> {
  readonly items: readonly Item[]
  readonly next_cursor: string | null
}

export interface ListDeps<Item> {
  readonly read: (query: ListQuery, signal: AbortSignal) => Promise<ApiResult<ListPage<Item>>>
  readonly keyOf: (item: Item) => string
  /** Calls `run` once after this time, in milliseconds. */
  readonly later: (run: () => void, ms: number) => void
}

// Changes within this time are drawn together.
const DRAW_MS = 200
// The shortest time between two readings of a list that keeps changing.
const REFRESH_MS = 2_000

/** One page of a list, which follows the changes of its items. */
export class ListModel<Item> {
  readonly page = signal<ListPage<Item> | null>(null)
  readonly failure = signal<ApiFailure | null>(null)
  readonly isLoading = signal(false)
  /** The rows that changed last. */
  readonly changed = signal<ReadonlySet<string>>(new Set())
  readonly #deps: ListDeps<Item>
  readonly #waiting = new Map<string, Item>()
  #query: ListQuery = {}
  /** The query of the page that is shown. */
  #shownQuery: ListQuery = {}
  #reading = new AbortController()
  #isReading = false
  /** Whether an item may have changed since the current reading began. */
  #isOutdated = false
  #isRefreshDue = false
  /** Whether no change has been read for a while: then the next change is shown at once. */
  #mayRefreshAtOnce = true

  constructor(deps: ListDeps<Item>) {
    this.#deps = deps
  }

  /** Reads another page; the present one stays until the answer is there. */
  async load(query: ListQuery): Promise<void> {
    this.#query = query
    await this.refresh()
  }

  /** Reads the same page again. */
  async refresh(): Promise<void> {
    this.isLoading.value = true
    await this.refreshInBackground()
  }

  /** Reads the same page again, and does not say that it is loading. */
  async refreshInBackground(): Promise<void> {
    this.#reading.abort()
    const reading = new AbortController()
    this.#reading = reading
    this.#isReading = true
    this.#isOutdated = false
    const result = await this.#deps.read(this.#query, reading.signal).catch((error: unknown) => {
      if (reading.signal.aborted) return undefined
      throw error
    })
    if (!result || reading.signal.aborted) return
    this.#isReading = false
    batch(() => this.#show(result))
    if (this.#isOutdated) this.refreshSoon()
  }

  #show(result: ApiResult<ListPage<Item>>): void {
    this.isLoading.value = false
    this.failure.value = result.ok ? null : result.failure
    // Rows of other filters must not stay: actions would apply to them.
    const isOther = this.#query !== this.#shownQuery
    this.#shownQuery = this.#query
    if (result.ok) this.page.value = result.value
    else if (isOther) this.page.value = null
  }

  /** Reads the same page again if it could not be read, or is still being read. */
  async retry(): Promise<void> {
    if (this.failure.peek() || this.isLoading.peek()) await this.refresh()
  }

  /** Takes an item as an event has it. */
  take(item: Item): void {
    this.#isOutdated = true
    if (this.#waiting.size === 0) this.#deps.later(() => this.#draw(), DRAW_MS)
    this.#waiting.set(this.#deps.keyOf(item), item)
  }

  /** Reads the page again, but not too often. */
  refreshSoon(): void {
    if (this.#isRefreshDue) return
    this.#isRefreshDue = true
    const wait = this.#mayRefreshAtOnce ? DRAW_MS : REFRESH_MS
    this.#mayRefreshAtOnce = false
    this.#deps.later(() => {
      this.#isRefreshDue = false
      this.#deps.later(() => (this.#mayRefreshAtOnce = !this.#isRefreshDue), REFRESH_MS)
      // A slow reading is not given up: while events come, no answer would ever be shown.
      if (this.#isReading) this.#isOutdated = true
      else if (!this.#reading.signal.aborted) void this.refresh()
    }, wait)
  }

  stop(): void {
    this.#reading.abort()
    this.#waiting.clear()
  }

  #draw(): void {
    const changes = new Map(this.#waiting)
    this.#waiting.clear()
    const page = this.page.peek()
    if (!page || changes.size === 0) return
    const keys = page.items.map(this.#deps.keyOf)
    const known = new Set(keys.filter((key) => changes.has(key)))
    if (known.size > 0) {
      const items = page.items.map((item, index) => changes.get(keys[index] ?? '') ?? item)
      batch(() => {
        this.page.value = { ...page, items }
        this.changed.value = known
      })
    }
    if (this.#mayHaveOtherRows(known.size < changes.size)) this.refreshSoon()
  }

  /** New items are on the first page; a changed one may match the filters now, or no more. */
  #mayHaveOtherRows(hasUnknown: boolean): boolean {
    return isFiltered(this.#query) || (hasUnknown && isFirstPage(this.#query))
  }
}
