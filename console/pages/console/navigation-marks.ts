import { defineWords } from '../../i18n/language.ts'
import { localNumber } from '../../i18n/local.ts'
import { useResource, type ResourceSource } from '../../parts/resource/use-resource.ts'
import { useQuietReading } from '../../parts/use-quiet-reading.ts'
import { mayDecide } from './executions/model.ts'
import { keptDraft } from './menus/kept-draft.ts'
import { call, live } from './platform.ts'

const markWords = defineWords({
  en: { awaiting: (count: string) => `${count} await approval`, draft: 'an unsaved draft' },
  zh: { awaiting: (count) => `${count} 项等待审批`, draft: '有未保存的草稿' },
})

/** What the entry of a page in the navigation says besides its title. */
export interface NavigationMark {
  readonly text: string
  /** In words. */
  readonly label: string
}

const NONE = { count: 0, hasMore: false }

const PAUSE_MS = 5_000
// Most roles receive no events of executions.
const EVERY_MS = 30_000
const MOST_REQUESTS = 100

/** The requests that the user may decide on; also for roles that the policy makes approvers. */
const decidable: ResourceSource<{ readonly count: number; readonly hasMore: boolean }> = {
  live,
  prefix: 'command.',
  isAbout: () => true,
  pauseMs: PAUSE_MS,
  async read(_, signal) {
    const waiting = await call(
      'listExecutions',
      { query: { status: 'awaiting_approval', limit: MOST_REQUESTS } },
      signal,
    )
    if (!waiting.ok) return waiting
    const { items, next_cursor } = waiting.value
    return { ...waiting, value: { count: items.filter(mayDecide).length, hasMore: next_cursor !== null } }
  },
}

/** The marks by the names of the pages. */
export function useNavigationMarks(): ReadonlyMap<string, NavigationMark> {
  const words = markWords()
  const requests = useResource(decidable, '')
  useQuietReading(requests, {
    isUnsettled: () => false,
    everyMs: EVERY_MS,
    read: () => requests.refresh(),
    failure: requests.failure,
  })
  const { count, hasMore } = requests.value.value ?? NONE
  const marks = new Map<string, NavigationMark>()
  if (count > 0) {
    const text = hasMore ? `${localNumber(count)}+` : localNumber(count)
    marks.set('executions', { text, label: words.awaiting(text) })
  }
  if (keptDraft() !== null) marks.set('menus', { text: '•', label: words.draft })
  return marks
}
