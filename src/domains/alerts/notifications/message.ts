import { toRfc3339 } from '../../../kernel/time.ts'
import type { ChannelMessage } from '../../../ports/notification-channel.ts'
import { severityOf, type AlertWeight } from '../model.ts'
import type { OccasionKind, Waiting } from './model.ts'

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
}

/** The message of one or more notifications, of which there is at least one. */
export function messageOf(notifications: readonly Waiting[]): MessageContent {
  const [first, ...others] = notifications as readonly [Waiting, ...Waiting[]]
  return others.length === 0 ? detailedMessage(first) : bundledMessage(notifications)
}

/** The message of one or more notifications, cut where it is too long. */
export function fittingMessage(
  notifications: readonly Waiting[],
  fits: (message: MessageContent) => boolean,
): MessageContent {
  return shortened(messageOf(notifications), fits)
}

/** The message with as much of its text as fits; for a notification whose details are too long. */
export function shortened(
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

function detailedMessage({ at, occasion, weight, source, content }: Waiting): MessageContent {
  const { title, alarmId, serverAddr, excerpt, note } = content
  const lines = [
    `Source: ${oneLine(source)}`,
    serverAddr === null ? '' : `Server: ${oneLine(serverAddr)}`,
    alarmId === null ? '' : `Alarm: ${oneLine(alarmId)}`,
    `Time: ${toRfc3339(at)}`,
    note ?? '',
    excerpt,
  ]
  return {
    title: clip(`${markOf(occasion, weight)} ${oneLine(title)}`, LINE_TITLE_CHARACTERS),
    text: lines.filter((line) => line !== '').join('\n'),
    level: severityOf(weight),
  }
}

function bundledMessage(notifications: readonly Waiting[]): MessageContent {
  const sources = [...new Set(notifications.map(({ source }) => clip(oneLine(source), LINE_PART_CHARACTERS)))]
  const of = sources.length > NAMED_SOURCES ? `${sources.length} sources` : sources.join(', ')
  const heaviest = notifications.reduce<AlertWeight>((most, { weight }) => (weight > most ? weight : most), 0)
  return {
    title: `[${severityOf(heaviest)}] ${notifications.length} notifications of ${of}`,
    text: notifications.map(lineOf).join('\n'),
    level: severityOf(heaviest),
  }
}

function lineOf({ occasion, weight, source, content }: Waiting): string {
  const { title, alarmId, serverAddr, note } = content
  const parts = [source, serverAddr, alarmId, note].filter((part) => part !== null)
  const about = parts.map((part) => clip(oneLine(part), LINE_PART_CHARACTERS)).join(', ')
  return `${markOf(occasion, weight)} ${clip(oneLine(title), LINE_TITLE_CHARACTERS)} (${about})`
}

function markOf(occasion: OccasionKind, weight: AlertWeight): string {
  return `[${MARKS[occasion] ?? severityOf(weight)}]`
}

/** A text of a client must not forge the lines of a message. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}

/** At most that many UTF-16 units, with a mark where the text was cut. */
export function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1)).toWellFormed()}…`
}
