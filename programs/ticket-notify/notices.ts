import type { Notification } from './notification.ts'
import type { LedgerPage } from './ledger.ts'
import type { Told } from './plan.ts'

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

/** The operator learns that the notifier has lost its memory, and where the broken one is. */
export function unreadableStateNotice(stateFile: string, reason: string, now: number): Notification {
  return {
    category: 'operator',
    title: '[HIGH] The ticket notifier has lost its memory',
    text: [
      `The state file ${stateFile} is unreadable: ${reason}`,
      'It is kept aside under the same name with .corrupt- and the time.',
      'All tickets there are now count as known: what changed since the last good round is not told one by one.',
    ].join('\n'),
    level: 'high',
    key: `operator:unreadable-state:${toText(now)}`,
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
