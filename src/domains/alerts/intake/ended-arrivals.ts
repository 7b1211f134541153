import { declaredAlarmId } from '../../../kernel/declared-alerts.ts'
import { HOUR, MINUTE, SECOND, toRfc3339 } from '../../../kernel/time.ts'
import type { PlatformAlert } from '../../../ports/alerts.ts'
import { INTAKE_ALERTS } from './alerts.ts'

/** An alert that had ended when it arrived, and that has never fired here. */
export interface EndedArrival {
  readonly alarmId: string
  readonly endsAt: number | undefined
}

interface Sender {
  /** The last arrivals, oldest first. */
  readonly arrivals: readonly { readonly key: string; readonly at: number }[]
  readonly alertedUntil: number
}

// docs/specification.md, Prometheus and Alertmanager
const WINDOW_MS = 10 * MINUTE
const ALLOWED = 2
const MAX_SENDERS = 1_000
const MAX_ARRIVALS = 100

/**
 * Counts what arrives ended from each sender. Prometheus repeats an alert that has ended for 15 minutes, with the same end; a
 * sender whose clock is slow moves the end on each time.
 */
export class EndedArrivals {
  #senders: ReadonlyMap<string, Sender> = new Map()

  /** How many of the arrivals are new, and the state after them, which {@link record} keeps. */
  judge(address: string, arrivals: readonly EndedArrival[], now: number) {
    const { arrivals: earlier, alertedUntil } = this.#senders.get(address) ?? NOBODY
    const recent = earlier.filter(({ at }) => now - at < WINDOW_MS)
    const known = new Set(recent.map(({ key }) => key))
    const fresh = [...new Set(arrivals.map(keyOf))].filter((key) => !known.has(key))
    const after = [...recent, ...fresh.map((key) => ({ key, at: now }))].slice(-MAX_ARRIVALS)
    const isAlerted = fresh.length > 0 && (after.length > ALLOWED || now < alertedUntil)
    const sender = { arrivals: after, alertedUntil: isAlerted ? now + HOUR : alertedUntil }
    return { fresh: fresh.length, isAlerted, sender }
  }

  record(address: string, sender: Sender): void {
    const others = [...this.#senders].filter(([each]) => each !== address)
    this.#senders = new Map([...others, [address, sender] as const].slice(-MAX_SENDERS))
  }
}

const NOBODY: Sender = { arrivals: [], alertedUntil: 0 }

const keyOf = ({ alarmId, endsAt }: EndedArrival): string => `${alarmId} ${endsAt}`

/** The alert about the clock of a sender; `date` is its `Date` header. */
export function clockAlert(address: string, date: string | undefined, now: number): PlatformAlert {
  return {
    alarmId: declaredAlarmId(INTAKE_ALERTS, 'alertmanager.clock:*', address),
    source: 'platform.alerts',
    title: `Alerts of ${address} have ended before they arrive`,
    body: `Three alerts within ten minutes had ended before they arrived, and none of them fires here. ${differenceText(date, now)}`,
    severity: 'WARNING',
  }
}

function differenceText(date: string | undefined, now: number): string {
  const sentAt = date === undefined ? NaN : Date.parse(date)
  if (Number.isNaN(sentAt)) return 'Compare the clocks of the two hosts.'
  const seconds = Math.round((sentAt - now) / SECOND)
  const difference = `${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} that of the platform`
  return `By the Date header (${toRfc3339(sentAt)}) the clock of the sender is ${difference}.`
}
