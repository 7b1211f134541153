import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { serverClock } from '../../../api/browser.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import { localTime, localWeekday } from '../../../i18n/local.ts'
import { Button } from '../../../parts/button.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import type { Bulk } from '../../../parts/list/selection.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { sendChange } from '../../../parts/send-change.ts'
import { session, call } from '../platform.ts'
import { resourceOf } from '../sources.ts'
import { userLabel } from '../user-names.ts'
import { pathOf, type DetailProps, type ViewProps } from '../view.ts'
import { matchersText, labelMatcherText } from './covering.ts'
import {
  silenceList,
  SILENCE_TONES,
  silenceResource,
  type Silence,
  type SilenceWithWindows,
} from './model.ts'
import { NewSilence } from './new-silence.tsx'
import { silenceWords } from './words.ts'

const PATH = pathOf('silences')

/** The silences: the list, and beside it the silence that the address names. */
export function SilencesPage({ id }: ViewProps) {
  const words = silenceWords()
  return (
    <ObjectsPage
      path={PATH}
      source={silenceList}
      words={words}
      labelOf={(_, value) => words.states[value as Silence['state']]}
      columns={silenceColumns()}
      icon="mute"
      bulk={silenceBulk()}
      summary={<SilenceWeek />}
      id={id}
      newItem={session.may('createSilence') && NewSilenceOfList}
      detail={(detail) => <SilenceDrawer key={detail.id} {...detail} />}
    />
  )
}

/** The form for a new silence, which the list then shows. */
function NewSilenceOfList({ onClose }: Pick<NewItemDialog, 'onClose'>) {
  return <NewSilence onClose={onClose} />
}

/** The end of several silences. */
function silenceBulk(): Bulk<Silence> | false {
  const { end } = silenceWords()
  return (
    session.may('endSilence') && {
      titleOf: ({ reason }) => reason,
      actions: [
        {
          title: end.action,
          text: end.text,
          isDestructive: true,
          appliesTo: ({ state }) => state !== 'ended',
          send: ({ id }) => call('endSilence', { path: { id } }),
        },
      ],
    }
  )
}

function silenceColumns(): readonly TableColumn<Silence>[] {
  const { fields, states, matchers, createdBy } = silenceWords()
  const column = fieldColumns<Silence, typeof fields>(fields)
  return [
    column.text('reason'),
    column.status('state', SILENCE_TONES, states),
    {
      key: 'matchers',
      title: matchers,
      isWideOnly: true,
      cell: (silence) => <bdi>{matchersText(silence)}</bdi>,
    },
    {
      key: 'created_by',
      title: createdBy,
      isWideOnly: true,
      cell: ({ created_by }) => <bdi>{userLabel(created_by)}</bdi>,
    },
    column.time('ends_at', { isFromMedium: true }),
  ]
}

/** One silence, and its end. */
function SilenceDrawer({ id, onClose }: DetailProps) {
  const model = useResource(silenceResource, id)
  const refreshList = useListRefresh()
  const onEnd = () => {
    void model.refresh()
    refreshList()
  }
  const plannedEnd = usePlannedEnd(model.value.value)
  return (
    <ResourceDrawer id={id} model={model} titleOf={({ reason }) => reason} onClose={onClose}>
      {(silence) => <SilenceDetails silence={silence} plannedEnd={plannedEnd} onEnd={onEnd} />}
    </ResourceDrawer>
  )
}

/** The end that a silence had when it was first shown: the API replaces it when somebody ends the silence earlier. */
function usePlannedEnd(silence: Silence | null): string | undefined {
  const planned = useRef<string>(undefined)
  if (silence && silence.state !== 'ended') planned.current = silence.ends_at
  return planned.current
}

interface SilenceDetailsProps {
  readonly silence: SilenceWithWindows
  readonly plannedEnd: string | undefined
  readonly onEnd: () => void
}

function SilenceDetails({ silence, plannedEnd, onEnd }: SilenceDetailsProps) {
  const words = silenceWords()
  const { id, state } = silence
  const end = () =>
    sendChange({
      words: words.end,
      isDestructive: true,
      send: () => call('endSilence', { path: { id } }),
      onDone: onEnd,
    })
  return (
    <>
      <ObjectActions
        status={{ tone: SILENCE_TONES[state], label: words.states[state] }}
        actions={[
          state !== 'ended' &&
            session.may('endSilence') && { title: words.end.action, isDestructive: true, run: end },
        ]}
      />
      <FactList
        facts={[
          ...matcherFacts(silence),
          [words.fields.starts_at, localTime(silence.starts_at)],
          ...endFacts(silence, plannedEnd),
          ...repeatFacts(silence),
          [words.createdBy, userLabel(silence.created_by)],
        ]}
      />
    </>
  )
}

// The actor that ends a silence at its planned time.
const WORKER = 'worker'

/** When a silence ends or has ended; if somebody has ended it, also when it was planned to end. */
function endFacts({ ends_at, ended_by }: Silence, plannedEnd: string | undefined) {
  const { fields, ended_at, endedAt, plannedUntil } = silenceWords()
  if (ended_by === null || ended_by === WORKER) return [[fields.ends_at, localTime(ends_at)] as const]
  return [
    [ended_at, endedAt(localTime(ends_at), userLabel(ended_by))] as const,
    [plannedUntil, plannedEnd === undefined ? null : localTime(plannedEnd)] as const,
  ]
}

const MATCHERS = ['source', 'alarm_id', 'server_addr', 'title'] as const

function matcherFacts({ matchers, label_matchers }: Silence) {
  const { fields } = silenceWords()
  return [
    ...MATCHERS.map((name) => [fields[`matchers.${name}`], matchers[name] ?? null] as const),
    [fields.label_matchers, label_matchers?.map(labelMatcherText).join(', ') ?? null] as const,
  ]
}

/** When a silence repeats, by the clocks of its zone, and its next windows by those of the reader. */
function repeatFacts({ repeat, windows }: SilenceWithWindows) {
  const { fields, days, windows: title } = silenceWords()
  if (!repeat) return []
  const { from, to, time_zone } = repeat
  const names = repeat.days.map((day) => days[day]).join(', ')
  const times = windows.map(({ starts_at, ends_at }) => `${localTime(starts_at)} – ${localTime(ends_at)}`)
  return [[fields.repeat, `${names} ${from}–${to} ${time_zone}`] as const, [title, times.join('; ')] as const]
}

type Window = AnswerOf<'getSilenceCalendar'>['windows'][number]

const DAYS = 7

/** What is silenced in the week that begins at a time. */
const silenceWeek = resourceOf('getSilenceCalendar', 'silence.', (from) => ({ query: { from } }))

/** The silences of a week by the clocks of the reader: a line for each, with its windows. */
function SilenceWeek() {
  const words = silenceWords()
  const weeks = useSignal(0)
  const days = daysOfWeek(serverClock.now(), weeks.value)
  const week = useResource(silenceWeek, new Date(days[0] ?? 0).toISOString())
  return (
    <section class="card silence-week" aria-label={words.week}>
      <div class="silence-week-bar">
        <Button kind="icon" icon="newer" aria-label={words.weekBefore} onClick={() => weeks.value--} />
        <Button disabled={weeks.value === 0} onClick={() => (weeks.value = 0)}>
          {words.thisWeek}
        </Button>
        <Button kind="icon" icon="older" aria-label={words.weekAfter} onClick={() => weeks.value++} />
      </div>
      <div class="silence-week-days" aria-hidden="true">
        {days.slice(0, DAYS).map((day) => (
          <span key={day}>
            <span>{localWeekday(day)}</span> <b>{new Date(day).getDate()}</b>
          </span>
        ))}
      </div>
      <ResourceView model={week}>
        {({ windows }) => <SilenceLines windows={windows} days={days} />}
      </ResourceView>
    </section>
  )
}

interface SilenceLinesProps {
  readonly windows: readonly Window[]
  readonly days: readonly number[]
}

function SilenceLines({ windows, days }: SilenceLinesProps) {
  const [start = 0] = days
  const end = days.at(-1) ?? start
  const placeOf = (ms: number) => (Math.min(1, Math.max(0, (ms - start) / (end - start))) * 100).toFixed(2)
  const now = serverClock.now()
  if (windows.length === 0) return <p class="muted">{silenceWords().emptyWeek}</p>
  return (
    <ul>
      {[...Map.groupBy(windows, ({ silence_id }) => silence_id)].map(([id, windowsOfSilence]) => (
        <li key={id} class="silence-line">
          <a href={pathOf('silences', id)}>
            <bdi>{windowsOfSilence[0]?.reason}</bdi>
          </a>
          <span class="visually-hidden">{windowsOfSilence.map(windowText).join('; ')}</span>
          <div class="silence-track" aria-hidden="true">
            {windowsOfSilence.map((window) => (
              <span
                key={window.starts_at}
                class="silence-window"
                title={windowText(window)}
                style={{
                  insetInlineStart: `${placeOf(Date.parse(window.starts_at))}%`,
                  insetInlineEnd: `${100 - Number(placeOf(Date.parse(window.ends_at)))}%`,
                }}
              />
            ))}
            {start <= now && now < end && (
              <span class="silence-now" style={{ insetInlineStart: `${placeOf(now)}%` }} />
            )}
          </div>
        </li>
      ))}
    </ul>
  )
}

function windowText({ starts_at, ends_at }: Window): string {
  return `${localTime(starts_at)} – ${localTime(ends_at)}`
}

/** The beginnings of the days of a week, from Monday on, and that of the next week. */
function daysOfWeek(now: number, weeks: number): number[] {
  const today = new Date(now)
  const sinceMonday = (today.getDay() + DAYS - 1) % DAYS
  return Array.from({ length: DAYS + 1 }, (_, day) =>
    new Date(
      today.getFullYear(),
      today.getMonth(),
      today.getDate() - sinceMonday + weeks * DAYS + day,
    ).getTime(),
  )
}
