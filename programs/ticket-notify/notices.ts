import type { Alert } from './api.ts'
import type { Notification } from './notification.ts'
import type { LedgerPage } from './ledger.ts'
import type { Told } from './plan.ts'
import { toLine } from './tickets.ts'

const UNKNOWN = 'unknown'

/** What people are told of one ticket. */
export function ticketNotice({ kind, ticket, from }: Told): Notification {
  const { id, title, status, level, createdAt, updatedAt, updatedAtText } = ticket
  const named = title || `ticket ${id}`
  const mark = `[${(level || UNKNOWN).toUpperCase()}]`
  const headline = kind === 'new' ? `New ticket: ${named}` : `${from} → ${status}: ${named}`
  const change = kind === 'new' ? 'new' : `${from}>${status}`
  return {
    category: 'ticket',
    title: `${mark} ${headline}`,
    text: [
      `Ticket: ${id}`,
      `Title: ${title || UNKNOWN}`,
      `Level: ${level || UNKNOWN}`,
      kind === 'new' ? `Status: ${status || UNKNOWN}` : `Status: ${from} → ${status}`,
      `Opened: ${toText(createdAt)}`,
      `Updated: ${toText(updatedAt)}`,
    ].join('\n'),
    level: level || UNKNOWN,
    key: `ticket:${id}:${change}:${kind === 'new' ? '' : updatedAtText}`,
  }
}

const STATE_ALERT = 'ticket-notify.state'

/** The alert for a state file that cannot be read. `weight` and `alarm_id` come first: the first of each counts. */
export function unreadableStateAlert(stateFile: string, reason: string, server: string): Alert {
  return {
    source: 'ticket-notify',
    title: STATE_ALERT,
    body: [
      `weight=5 alarm_id=${STATE_ALERT}`,
      `The state file ${toLine(stateFile)} is unreadable: ${toLine(reason)}`,
      'It is kept aside under the same name with .corrupt- and the time.',
      'All listed tickets now count as known. Changes since the last round before are not notified.',
    ].join('\n'),
    level: 'HIGH',
    server_addr: server,
    alarm_id: STATE_ALERT,
  }
}

/** What was not told since the last digest, and why. */
export function digestNotice(pages: readonly LedgerPage[], since: string, today: string): Notification {
  const total = pages.reduce((sum, { count }) => sum + count, 0)
  return {
    category: 'digest',
    title: `[INFO] ${total} ticket ${total === 1 ? 'notification was' : 'notifications were'} not sent`,
    text: [`Since ${since} (UTC):`, ...pages.flatMap(pageLines)].join('\n'),
    level: 'info',
    key: `digest:${since}:${today}`,
  }
}

export function selfTestNotice(now: number): Notification {
  return {
    category: 'self-test',
    title: '[INFO] Self-test of the ticket notifier',
    text: `This channel works. Sent at ${toText(now)}.`,
    level: 'info',
    key: `self-test:${toText(now)}`,
  }
}

function pageLines({ meaning, count, titles }: LedgerPage): string[] {
  const more = count - titles.length
  return [
    '',
    `${meaning}: ${count}`,
    ...titles.map((title) => `- ${title}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ]
}

function toText(time: number | undefined): string {
  return time === undefined ? UNKNOWN : new Date(time).toISOString()
}
