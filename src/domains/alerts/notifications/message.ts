import { toRfc3339 } from '../../../kernel/time.ts'
import type { ChannelMessage, MessageLink } from '../../../ports/notification-channel.ts'
import { severityOf, type AlertWeight } from '../model.ts'
import type { OccasionKind, WaitingNotification } from './model.ts'

/** A message without the key by which a receiver recognises it. */
export type MessageContent = Omit<ChannelMessage, 'key'>

// A bundle has one line for each alert, so that a message has room for many.
const LINE_TITLE_CHARACTERS = 120
const LINE_PART_CHARACTERS = 64
const NAMED_SOURCES = 3

const MARKS: Readonly<Partial<Record<OccasionKind, string>>> = {
  recovered: 'RECOVERED',
  repeated: 'STILL FIRING',
  frozen: 'FROZEN',
  unfrozen: 'UNFROZEN',
  escalated: 'ESCALATED',
  damped: 'CHANGES OFTEN',
  undamped: 'CHANGES NO MORE',
}

/** The occasions of an alert that continues to fire: the severity matters as much as the occasion. */
const FIRING: ReadonlySet<OccasionKind> = new Set<OccasionKind>(['repeated', 'escalated'])

export interface MessageOptions {
  /** Where people open the console; undefined if that is not configured. */
  readonly consoleUrl?: string | undefined
  /** Whether the channel needs to know the alerts. */
  readonly hasAbout?: boolean
}

/** The message of one or more notifications, of which there is at least one. */
export function messageOf(
  notifications: readonly WaitingNotification[],
  options: MessageOptions = {},
): MessageContent {
  const [first, ...others] = notifications as readonly [WaitingNotification, ...WaitingNotification[]]
  const links = others.length === 0 ? linksOf(first, options) : listLink(options)
  return {
    ...(others.length === 0 ? detailedMessage(first, links) : bundledMessage(notifications, options)),
    ...(links.length > 0 && { links }),
    ...(options.hasAbout && { about: aboutOf(notifications) }),
  }
}

function aboutOf(notifications: readonly WaitingNotification[]) {
  // Notifications that have waited for the same hours are one message, whatever their occasions.
  const isDigest = notifications.length > 1 && notifications.every(({ dueAt }) => dueAt !== null)
  const heaviest = heaviestOf(notifications, ({ weight }) => weight)
  const severity = heaviest || heaviestOf(notifications, ({ content }) => content.toldWeight ?? 0)
  return {
    isFiring: heaviest > 0,
    severity: severityOf(severity),
    occasions: isDigest ? ['digest'] : [...new Set(notifications.map(({ occasion }) => occasion))],
    alertIds: [...new Set(notifications.map(({ alertId }) => alertId))],
    alerts: [...new Set(notifications.flatMap(({ alert }) => alert ?? []))],
  }
}

function heaviestOf(
  notifications: readonly WaitingNotification[],
  weightOf: (notification: WaitingNotification) => AlertWeight,
): AlertWeight {
  return notifications
    .map(weightOf)
    .reduce((most, weight) => (weight > most ? weight : most), 0 as AlertWeight)
}

/** The address of a page of the console. */
function consolePage(consoleUrl: string, path: string): string {
  return `${consoleUrl}/console/${path}`
}

function linksOf(
  { alertId, weight, content }: WaitingNotification,
  { consoleUrl }: MessageOptions,
): MessageLink[] {
  const url = consoleUrl === undefined ? undefined : consolePage(consoleUrl, `alerts/${alertId}`)
  return [
    ...(url === undefined ? [] : [{ kind: 'open', url } as const]),
    ...(url === undefined || weight === 0 ? [] : [{ kind: 'acknowledge', url } as const]),
    ...(content.runbookUrl === undefined ? [] : [{ kind: 'runbook', url: content.runbookUrl } as const]),
  ]
}

function listLink({ consoleUrl }: MessageOptions): MessageLink[] {
  return consoleUrl === undefined ? [] : [{ kind: 'open', url: consolePage(consoleUrl, 'alerts') }]
}

const LINK_LINES = { open: 'Alert', runbook: 'Runbook' } as const

/** The links as lines, for receivers that show only text. */
function linkLines(links: readonly MessageLink[]): string[] {
  return links.flatMap(({ kind, url }) => (kind === 'acknowledge' ? [] : [`${LINK_LINES[kind]}: ${url}`]))
}

/** The message with as much of its text as fits; for a notification whose details are too long. */
export function shortenMessage(
  message: MessageContent,
  fits: (message: MessageContent) => boolean,
): MessageContent {
  if (fits(message)) return message
  const cut = (length: number) => ({ ...message, text: clip(message.text, length) })
  return cut(largest(message.text.length, (length) => fits(cut(length))))
}

/** The largest number up to `most` that passes, if each smaller one does too; 0 if none does. */
export function largest(most: number, passes: (count: number) => boolean): number {
  let [low, high] = [0, most]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (passes(middle)) low = middle
    else high = middle - 1
  }
  return low
}

function detailedMessage(
  { at, occasion, weight, source, content }: WaitingNotification,
  links: readonly MessageLink[],
): MessageContent {
  const { title, alarmId, serverAddr, excerpt, note } = content
  const lines = [
    `Source: ${oneLine(source)}`,
    serverAddr === null ? '' : `Server: ${oneLine(serverAddr)}`,
    alarmId === null ? '' : `Alarm: ${oneLine(alarmId)}`,
    `Time: ${toRfc3339(at)}`,
    note ?? '',
    ...linkLines(links),
    excerpt,
  ]
  return {
    title: clip(`${markOf(occasion, weight)} ${oneLine(title)}`, LINE_TITLE_CHARACTERS),
    text: lines.filter((line) => line !== '').join('\n'),
    level: severityOf(weight),
  }
}

function bundledMessage(
  notifications: readonly WaitingNotification[],
  options: MessageOptions,
): MessageContent {
  const sources = [...new Set(notifications.map(({ source }) => clip(oneLine(source), LINE_PART_CHARACTERS)))]
  const origin = sources.length > NAMED_SOURCES ? `${sources.length} sources` : sources.join(', ')
  const heaviest = heaviestOf(notifications, ({ weight }) => weight)
  return {
    title: `[${severityOf(heaviest)}] ${notifications.length} notifications of ${origin}`,
    text: [
      ...notifications.map((each) => [lineOf(each), ...linkLines(linksOf(each, options))].join(' ')),
      ...listLink(options).map(({ url }) => `Alerts: ${url}`),
    ].join('\n'),
    level: severityOf(heaviest),
  }
}

function lineOf({ occasion, weight, source, content }: WaitingNotification): string {
  const { title, alarmId, serverAddr, note } = content
  const parts = [source, serverAddr, alarmId, note].filter((part) => part !== null)
  const about = parts.map((part) => clip(oneLine(part), LINE_PART_CHARACTERS)).join(', ')
  return `${markOf(occasion, weight)} ${clip(oneLine(title), LINE_TITLE_CHARACTERS)} (${about})`
}

function markOf(occasion: OccasionKind, weight: AlertWeight): string {
  const mark = MARKS[occasion]
  const severity = mark === undefined || (FIRING.has(occasion) && weight > 0) ? severityOf(weight) : ''
  return `[${[mark, severity].filter(Boolean).join(' ')}]`
}

/** A text of a client must not forge the lines of a message. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}

/** Cuts a text to at most that many UTF-16 units, with a mark where it was cut. */
export function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1)).toWellFormed()}…`
}
