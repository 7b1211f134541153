import type { EventLog, EventPage, LoggedEvent, PositionedEvent, PositionedLog } from '../../ports/events.ts'
import type { LogName, Places } from './model.ts'

export interface EventLogs {
  readonly messages: EventLog
  readonly telemetry: PositionedLog
}

/** An event with its position in the stream. */
export interface OrderedEvent extends LoggedEvent {
  readonly log: LogName
  /** The position right after it: the same for all readers. */
  readonly position: Places
}

export interface OrderedPage {
  readonly events: readonly OrderedEvent[]
  /** The position after all events of the page. */
  readonly end: Places
  /** Whether there are more events that can be read now. */
  readonly hasMore: boolean
}

// A reader of telemetry alone does not wait for messages.
const ALL_MESSAGES: EventPage = { events: [], through: Number.MAX_SAFE_INTEGER }

/**
 * The events of both logs in one order, which is the same for all readers and does not change: each event of telemetry
 * comes after the message that is recorded with it.
 */
export class EventOrder {
  readonly #logs: EventLogs

  constructor(logs: EventLogs) {
    this.#logs = logs
  }

  /** The position after all events that are committed now. */
  async newest(): Promise<Places> {
    const messages = await this.#logs.messages.newestPlace()
    await this.#logs.telemetry.waitForTransactions()
    return { messages, telemetry: await this.#logs.telemetry.newestPlace(messages) }
  }

  /** The places up to which events may have been removed. */
  async removedUpTo(): Promise<Places> {
    const { messages, telemetry } = this.#logs
    return { messages: await messages.removedUpTo(), telemetry: await telemetry.removedUpTo() }
  }

  /** The next events of some logs after a position; with `subjects` only messages on these, as {@link EventLog} has them. */
  async readAfter(
    start: Places,
    logs: readonly LogName[],
    limit: number,
    subjects?: readonly string[],
  ): Promise<OrderedPage> {
    const { messages, telemetry } = this.#logs
    if (!logs.includes('messages'))
      return merge(start, ALL_MESSAGES, await telemetry.readAfter(start.telemetry, limit), limit)
    const page = await messages.readAfter(start.messages, limit, subjects)
    if (!logs.includes('telemetry')) return merge(start, page, [], limit)
    // Without the wait, telemetry that comes before these messages could become visible after them.
    if (page.through > start.messages) await telemetry.waitForTransactions()
    return merge(start, page, await telemetry.readAfter(start.telemetry, limit), limit)
  }
}

/**
 * Merges the next messages with the next events of telemetry. Telemetry that comes after later messages waits for them.
 * Messages after the last event of telemetry wait too: more telemetry may come before them.
 */
function merge(
  start: Places,
  { events, through }: EventPage,
  telemetry: readonly PositionedEvent[],
  limit: number,
): OrderedPage {
  const last = Math.min(through, telemetry.at(-1)?.afterMessage ?? through)
  const entries = [
    ...events.filter(({ place }) => place <= last).map((event) => entryOf('messages', event, event.place)),
    ...telemetry
      .filter(({ afterMessage }) => afterMessage <= through)
      .map((event) => entryOf('telemetry', event, event.afterMessage)),
  ].sort((one, other) => one.message - other.message)
  const ordered = withPositions(start, entries)
  const position = ordered.at(-1)?.position ?? start
  return {
    events: ordered,
    end: { ...position, messages: Math.max(start.messages, last) },
    hasMore: ordered.length >= limit || last < through,
  }
}

interface LogEntry {
  readonly log: LogName
  readonly event: LoggedEvent
  /** The number of the message; for telemetry, that of the message before it. */
  readonly message: number
}

function entryOf(log: LogName, event: LoggedEvent, message: number): LogEntry {
  return { log, event, message }
}

function withPositions(start: Places, entries: readonly LogEntry[]): OrderedEvent[] {
  let telemetry = start.telemetry
  return entries.map(({ log, event, message }) => {
    if (log === 'telemetry') telemetry = event.place
    return { ...event, log, position: { messages: message, telemetry } }
  })
}
