import { useSignal } from '@preact/signals'
import { serverClock } from '../../../api/browser.ts'
import { BODIES } from '../../../api/generated.ts'
import type { BodyOf, AnswerOf } from '../../../api/operations.ts'
import { localNumber, localSeconds } from '../../../i18n/local.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { QuickValue } from '../../../parts/form/field-input.tsx'
import type { FormValues } from '../../../parts/form/form-fields.ts'
import { readPages } from '../../../parts/list/read-pages.ts'
import { useResource, type ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'
import { isCovered } from './covering.ts'
import type { Silence } from './model.ts'
import { silenceWords } from './words.ts'

// An hour, two, eight, a day, a week.
const SPANS = [3_600, 7_200, 28_800, 86_400, 604_800]

/** The end of a silence that begins now and lasts so many seconds. */
function endAfter(seconds: number): QuickValue {
  return {
    label: localSeconds(seconds),
    valueOf: () => new Date(serverClock.now() + seconds * 1_000).toISOString(),
  }
}

export interface NewSilenceProps {
  readonly initial?: FormValues
  /** Called before {@link onClose}. */
  readonly onCreated?: () => void
  readonly onClose: () => void
}

/** Asks which alerts to silence, and until when. */
export function NewSilence({ initial = {}, onCreated, onClose }: NewSilenceProps) {
  const words = silenceWords()
  const matchers = useSignal(matchersIn(initial))
  const matching = useMatching(matchers.value)
  return (
    <CreateDialog
      title={words.newItem}
      {...(matching !== undefined && { text: matching })}
      schema={BODIES.createSilence}
      labels={words.fields}
      hints={words.hints}
      folds={{ repeat: words.fields.repeat }}
      quickValues={{ ends_at: SPANS.map(endAfter) }}
      initial={initial}
      labelOf={(_, day) => words.days[day as keyof typeof words.days]}
      onChange={(body) => (matchers.value = (body as Partial<Pick<Silence, 'matchers'>>).matchers ?? {})}
      action={words.create}
      // Without any matcher the API says that one is needed.
      create={(body) => call('createSilence', { body: { matchers: {}, ...body } as BodyOf<'createSilence'> })}
      doneOf={() => words.created}
      onCreated={() => {
        onCreated?.()
        onClose()
      }}
      onClose={onClose}
    />
  )
}

const PREFIX = 'matchers.'

/** What a form begins with, by the fields of an alert. */
function matchersIn(values: FormValues): Silence['matchers'] {
  const entries = Object.entries(values).filter(([path]) => path.startsWith(PREFIX))
  return Object.fromEntries(entries.map(([path, value]) => [path.slice(PREFIX.length), value]))
}

/** How many of the alerts that have not recovered these matchers cover; undefined until that is known, and without matchers. */
function useMatching(matchers: Silence['matchers']): string | undefined {
  const { matching, matchingAtLeast } = silenceWords()
  const alerts = useResource(openAlerts, '').value.value
  if (!alerts || Object.keys(matchers).length === 0) return undefined
  const covered = alerts.items.filter((alert) => isCovered(alert, matchers))
  const { items, hasMore } = alerts
  const text = hasMore ? matchingAtLeast : matching
  return text(localNumber(covered.length), localNumber(items.length))
}

const OPEN = ['firing', 'acknowledged', 'frozen'] as const
// The most that the API answers at once.
const PAGE_LENGTH = 1_000
// The form shows how many alerts a silence covers, also in a storm. Beyond these pages a lower bound is enough.
const MOST_PAGES = 5
// Several pages are not read again at each event of a storm.
const PAUSE_MS = 15_000

interface OpenAlerts {
  readonly items: AnswerOf<'listAlerts'>['items']
  /** Whether there are more than are read. */
  readonly hasMore: boolean
}

/** The alerts that have not recovered. Whoever may silence alerts may list them. */
const openAlerts: ResourceSource<OpenAlerts> = {
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
  pauseMs: PAUSE_MS,
}
