import type { Alert } from './api.ts'
import type { TICKET_NOTIFY_ALERTS } from './declared-alerts.ts'
import type { DigestSection } from './digest-record.ts'
import type { Notification } from './notification.ts'
import type { TicketEvent } from './plan.ts'
import { toLine } from './tickets.ts'

const UNKNOWN = 'unknown'
const STATE_ALERT: keyof typeof TICKET_NOTIFY_ALERTS = 'ticket-notify.state'

/** The notification of a new ticket or of a change of its status. */
export function ticketNotice({ kind, ticket, from, fromLevel }: TicketEvent): Notification {
  const { id, title, status, level, createdAt, updatedAt, updatedAtText } = ticket
  const name = title || `ticket ${id}`
  const mark = `[${(level || UNKNOWN).toUpperCase()}]`
  const isNew = kind === 'new'
  const isRise = fromLevel !== undefined
  const change = isRise ? `${fromLevel} → ${level}` : `${from} → ${status}`
  return {
    category: 'ticket',
    title: `${mark} ${isNew ? `New ticket: ${name}` : `${change}: ${name}`}`,
    text: [
      `Ticket: ${id}`,
      `Title: ${title || UNKNOWN}`,
      `Level: ${isRise ? change : level || UNKNOWN}`,
      `Status: ${isNew || isRise ? status || UNKNOWN : change}`,
      `Opened: ${formatTime(createdAt)}`,
      `Updated: ${formatTime(updatedAt)}`,
    ].join('\n'),
    level: level || UNKNOWN,
    key: isNew
      ? `ticket:${id}:new:`
      : `ticket:${id}:${isRise ? `${fromLevel}>${level}` : `${from}>${status}`}:${updatedAtText}`,
  }
}

/** The alert for an unreadable state file. Its text begins with `weight` and `alarm_id`: the first of each counts. */
export function unreadableStateAlert(stateFile: string, reason: string, server: string): Alert {
  return {
    source: 'ticket-notify',
    title: STATE_ALERT,
    body: [
      `weight=5 alarm_id=${STATE_ALERT}`,
      `The state file ${toLine(stateFile)} is unreadable: ${toLine(reason)}`,
      'It is kept under the same name with .corrupt- and the time.',
      'All listed tickets now count as known: changes since the round before were not notified.',
    ].join('\n'),
    level: 'HIGH',
    server_addr: server,
    alarm_id: STATE_ALERT,
  }
}

/** Ends the alert about an unreadable state file. */
export function readableStateAlert(stateFile: string, server: string): Alert {
  return {
    source: 'ticket-notify',
    title: STATE_ALERT,
    body: `weight=0 alarm_id=${STATE_ALERT}\nThe state file ${toLine(stateFile)} is readable again.`,
    level: 'CLOSE',
    server_addr: server,
    alarm_id: STATE_ALERT,
  }
}

/** What was not sent since the last digest, and why. */
export function digestNotice(sections: readonly DigestSection[], since: string, today: string): Notification {
  const total = sections.reduce((sum, { count }) => sum + count, 0)
  return {
    category: 'digest',
    title: `[INFO] ${total} ticket ${total === 1 ? 'notification was' : 'notifications were'} not sent`,
    text: [`Since ${since} (UTC):`, ...sections.flatMap(linesOf)].join('\n'),
    level: 'info',
    key: `digest:${since}:${today}`,
  }
}

export function selfTestNotice(now: number): Notification {
  return {
    category: 'self-test',
    title: '[INFO] Self-test of the ticket notifier',
    text: `This channel works. Sent at ${formatTime(now)}.`,
    level: 'info',
    key: `self-test:${formatTime(now)}`,
  }
}

function linesOf({ description, count, titles }: DigestSection): string[] {
  const more = count - titles.length
  return [
    '',
    `${description}: ${count}`,
    ...titles.map((title) => `- ${title}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ]
}

function formatTime(time: number | undefined): string {
  return time === undefined ? UNKNOWN : new Date(time).toISOString()
}
