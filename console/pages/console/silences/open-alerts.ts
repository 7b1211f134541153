import type { AnswerOf } from '../../../api/operations.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'

// Enough to see what a silence covers; of more the newest are read.
const MOST_READ = 200
const PAUSE_MS = 5_000

export interface OpenAlerts {
  readonly items: AnswerOf<'listAlerts'>['items']
  /** Whether there are more than are read. */
  readonly hasMore: boolean
}

/** The alerts that fire or are acknowledged now. Whoever may silence alerts may list them. */
export const openAlerts: ResourceSource<OpenAlerts> = {
  live,
  prefix: 'alert.',
  async read(_, signal) {
    const list = (status: 'firing' | 'acknowledged') =>
      call('listAlerts', { query: { status, limit: MOST_READ } }, signal)
    const [firing, acknowledged] = await Promise.all([list('firing'), list('acknowledged')])
    if (!firing.ok) return firing
    if (!acknowledged.ok) return acknowledged
    const lists = [firing.value, acknowledged.value]
    const hasMore = lists.some(({ next_cursor }) => next_cursor !== null)
    return { ok: true, value: { items: lists.flatMap(({ items }) => items), hasMore }, etag: null }
  },
  isAbout: () => true,
  pauseMs: PAUSE_MS,
}
