import type { AnswerOf } from '../../../api/operations.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'

const OPEN = ['firing', 'acknowledged', 'frozen'] as const
// Enough to see what a silence covers; of more the newest are read.
const MOST_READ = 200
const PAUSE_MS = 5_000

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
      OPEN.map((status) => call('listAlerts', { query: { status, limit: MOST_READ } }, signal)),
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
