import { defineWords } from '../../i18n/language.ts'
import { localNumber } from '../../i18n/local.ts'
import { useResource, type ResourceSource } from '../../parts/resource/use-resource.ts'
import { keptDraft } from './menus/kept-draft.ts'
import { call, live, session } from './platform.ts'

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

const PAUSE_MS = 5_000

const awaitingApproval: ResourceSource<{ readonly count: number }> = {
  live,
  prefix: 'command.',
  isAbout: () => true,
  pauseMs: PAUSE_MS,
  async read(_, signal) {
    if (!session.may('getOverview')) return { ok: true, value: { count: 0 }, etag: null }
    const overview = await call('getOverview', {}, signal)
    if (!overview.ok) return overview
    return { ok: true, value: { count: overview.value.executions?.awaiting_approval ?? 0 }, etag: null }
  },
}

/** The marks by the names of the pages. */
export function useNavigationMarks(): ReadonlyMap<string, NavigationMark> {
  const words = markWords()
  const count = useResource(awaitingApproval, '').value.value?.count ?? 0
  const marks = new Map<string, NavigationMark>()
  if (count > 0) {
    const text = localNumber(count)
    marks.set('executions', { text, label: words.awaiting(text) })
  }
  if (keptDraft() !== null) marks.set('menus', { text: '•', label: words.draft })
  return marks
}
