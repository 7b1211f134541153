import type { AnswerOf } from '../../../api/operations.ts'
import { readPages } from '../../../parts/list/read-pages.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'

const OPEN = ['firing', 'acknowledged', 'frozen'] as const
// The most that the API answers at once.
const PAGE_LENGTH = 1_000
// The form shows how many alerts a silence covers, also in a storm. Beyond these pages a lower bound is enough.
const MOST_PAGES = 5
// Several pages are not read again at each event of a storm.
const PAUSE_MS = 15_000

export interface OpenAlerts {
  readonly items: AnswerOf<'listAlerts'>['items']
  /** Whether there are more than are read. */
  readonly hasMore: boolean
}

/** The alerts that have not recovered. Whoever may silence alerts may list them. */
export const openAlerts: ResourceSource<OpenAlerts> = {
  live,
  prefix: 'alert.',
  async read(_, signal) {
    const answers = await Promise.all(
      OPEN.map((status) =>
        readPages(
          (from) => call('listAlerts', { query: { ...from, status, limit: PAGE_LENGTH } }, signal),
          MOST_PAGES,
        ),
      ),
    )
    const failed = answers.find((answer) => !answer.ok)
    if (failed) return failed
    const lists = answers.flatMap((answer) => (answer.ok ? [answer.value] : []))
    const hasMore = lists.some(({ next_cursor }) => next_cursor !== null)
    return { ok: true, value: { items: lists.flatMap(({ items }) => items), hasMore }, etag: null }
  },
  isAbout: () => true,
  pauseMs: PAUSE_MS,
}
