import { signal } from '@preact/signals'
import { serverClock } from '../api/browser.ts'
import { localAgo, localTime } from '../i18n/local.ts'

const TICK_MS = 15_000

let timer: ReturnType<typeof setInterval> | undefined

/** Counts as long as a relative time is on the page: one timer for all of them. */
const ticks = signal(0, {
  watched() {
    timer = setInterval(() => this.value++, TICK_MS)
  },
  unwatched() {
    clearInterval(timer)
  },
})

/** `2 min ago`, kept up to date; the exact time is its title. */
export function RelativeTime({ time }: { readonly time: string }) {
  void ticks.value
  return (
    <time dateTime={time} title={localTime(time)}>
      {localAgo(time, serverClock.now())}
    </time>
  )
}
