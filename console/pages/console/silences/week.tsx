import { useSignal } from '@preact/signals'
import { serverClock } from '../../../api/browser.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import { localTime, localWeekday } from '../../../i18n/local.ts'
import { Button } from '../../../parts/button.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { resourceOf } from '../sources.ts'
import { pathOf } from '../view.ts'
import { silenceWords } from './words.ts'

type Window = AnswerOf<'getSilenceCalendar'>['windows'][number]

const DAYS = 7

/** What is silenced in the week that begins at a time. */
const silenceWeek = resourceOf('getSilenceCalendar', 'silence.', (from) => ({ query: { from } }))

/** The silences of a week by the clocks of the reader: a line for each, with its windows. */
export function SilenceWeek() {
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
      {[...Map.groupBy(windows, ({ silence_id }) => silence_id)].map(([id, own]) => (
        <li key={id} class="silence-line">
          <a href={pathOf('silences', id)}>
            <bdi>{own[0]?.reason}</bdi>
          </a>
          <span class="visually-hidden">{own.map(windowText).join('; ')}</span>
          <div class="silence-track" aria-hidden="true">
            {own.map((window) => (
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
