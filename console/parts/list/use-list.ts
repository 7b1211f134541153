import { useLocation } from 'preact-iso/router'
import { useEffect, useMemo } from 'preact/hooks'
import { serverClock } from '../../api/browser.ts'
import type { DownloadedFile } from '../../api/download.ts'
import type { ApiResult } from '../../api/operations.ts'
import type { LiveEvents } from '../../api/live.ts'
import type { LiveEvent } from '../../api/event-stream.ts'
import { useBackgroundReading } from '../use-background-reading.ts'
import { ListModel, type ListDeps } from './list-model.ts'
import {
  addressOf,
  hasMovingPeriod,
  queryOfApi,
  readListQuery,
  type ListQuery,
  type ListShape,
} from './list-query.ts'

export interface ListSource<Item> extends Omit<ListDeps<Item>, 'later'>, ListShape {
  readonly live: LiveEvents
  /** Fetches all pages as a table; undefined where the API has no table of these filters. */
  readonly csv?: (query: ListQuery) => (() => Promise<ApiResult<DownloadedFile>>) | undefined
  /** Begin of the subjects of the items. */
  readonly prefix: string
  /** The item that an event has; `changed` if the event says only that the list may have changed, null if not even that. */
  readonly fromEvent: (event: LiveEvent) => Item | 'changed' | null
  /** Whether an item may change without an event: while one is on the page, the page is read again every 2 seconds. */
  readonly mayChangeWithoutEvent?: (item: Item) => boolean
  /** How often the page is read again because items change without an event that the user gets. */
  readonly everyMs?: number
}

// Items enter and leave a moving period without an event.
const MOVING_MS = 30_000

const later = (run: () => void, ms: number) => void setTimeout(run, ms)

/** The list that the address of the page names, kept up to date by the events. `source` is a constant of its module. */
export function useList<Item>(source: ListSource<Item>) {
  const query = readListQuery(useLocation().query, source)
  return { model: useListOf(source, query), query }
}

/** The list of this query, kept up to date by the events. */
export function useListOf<Item>(source: ListSource<Item>, query: ListQuery): ListModel<Item> {
  const model = useMemo(() => new ListModel<Item>({ ...source, read: readerOf(source), later }), [source])
  useEffect(() => void model.load(query), [model, addressOf('', query)])
  useEffect(() => {
    const { live, prefix, fromEvent } = source
    const unsubscribe = live.subscribe({
      prefix,
      onEvent(event) {
        const item = fromEvent(event)
        if (item === 'changed') model.refreshSoon()
        else if (item !== null) model.take(item)
      },
      onGap: () => void model.refresh(),
      onReturn: () => void model.retry(),
    })
    return () => {
      unsubscribe()
      model.stop()
    }
  }, [model])
  useBackgroundReading(model, {
    mayChangeWithoutEvent: () =>
      model.page.peek()?.items.some((item) => source.mayChangeWithoutEvent?.(item)) ?? false,
    everyMs: hasMovingPeriod(query, source.filters) ? MOVING_MS : source.everyMs,
    read: () => model.refreshInBackground(),
    failure: model.failure,
  })
  return model
}

/** Reads with the times that the periods of the query have now. */
function readerOf<Item>({ read, filters }: ListSource<Item>): ListSource<Item>['read'] {
  return (query, signal) => read(queryOfApi(query, filters, serverClock.now()), signal)
}
