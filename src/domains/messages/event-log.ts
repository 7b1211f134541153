import { sql } from 'kysely'
import { eventSource } from '../../kernel/events.ts'
import type { EventLog, EventPage, LoggedEvent, LoggedMessage, MessageLogReader } from '../../ports/events.ts'
import { CreatedRanges } from '../../store/created-range.ts'
import { BATCH_BYTES, countWithin, sizeOf, type RowSize } from '../../store/pages.ts'
import { SettledNumbers } from '../../store/numbers.ts'
import type { Queries } from '../../store/store.ts'
import { eventBegin, isEventPayload } from './model.ts'
import { db, EVENT_HEADERS_TEXT, eventLogs, messages, readRow, readRows } from './tables.ts'

type Row = LoggedEvent & { readonly id: string }
type Part = Range & { readonly headers: string; readonly limit: number }

/** The rows of a part, in their order; on SQLite the subject comes before what lies behind a large payload. */
function rowsOf(
  on: ReturnType<typeof db>,
  { after, through, headers, limit }: Part,
  subjects?: readonly string[],
) {
  return on
    .selectFrom('messages')
    .where('seq', '>', after)
    .where('seq', '<=', through)
    .where(subjects ? isOnOneOf(subjects) : sql<boolean>`true`)
    .where('headers', '=', headers)
    .orderBy('seq')
    .limit(limit)
}

const EVENT = ['seq as place', ...messages.pick('id', 'subject', 'payload')] as const
const SIZE = sizeOf('payload').as('bytes')

const readEvents = readRows((on, part: Part) => rowsOf(on, part).select(EVENT))

const readSizes = readRows((on, part: Part) => rowsOf(on, part).select(SIZE))

const findNextNumber = readRow(
  (on, after: number) =>
    on.selectFrom('messages').select('seq').where('seq', '>', after).orderBy('seq').limit(1),
  ({ seq }) => seq,
)

const readRemovedUpTo = readRow(
  (on) => on.selectFrom('event_logs').select(eventLogs.pick('removedUpTo')).where('name', '=', 'messages'),
  ({ removedUpTo }) => removedUpTo,
)

// Bounds the rows that one query reads: most may be messages of users.
const RANGE = 2_000

interface Range {
  readonly after: number
  readonly through: number
}

const MESSAGE = [...EVENT, ...messages.pick('headers', 'createdAt', 'trace')] as const
const CREATED = new CreatedRanges('messages', 'created_at')

/** The events among the messages, in the order of their numbers. Messages of users are no events. */
export class MessageLog implements EventLog, MessageLogReader {
  readonly #queries: Queries
  readonly #settled: SettledNumbers
  /** A range without events, so that messages of users are not read again and again. */
  #empty: Range = { after: 0, through: 0 }

  constructor(queries: Queries) {
    this.#queries = queries
    this.#settled = new SettledNumbers(queries, 'messages')
  }

  newestPlace(): Promise<number> {
    return this.#settled.settle()
  }

  async removedUpTo(): Promise<number> {
    return (await readRemovedUpTo(this.#queries)) ?? 0
  }

  /**
   * The query of the places after `after`, for a reader that needs them in the snapshot of another query. Some may be of
   * messages of users.
   */
  placesAfter(after: number) {
    return db(this.#queries)
      .selectFrom('messages')
      .select('seq as number')
      .where('seq', '>', after)
      .where('headers', '=', EVENT_HEADERS_TEXT)
  }

  async readAfter(after: number, limit: number, subjects?: readonly string[]): Promise<EventPage> {
    const settled = await this.#settled.through()
    let from = this.#skipEmpty(after)
    while (from < settled) {
      const range = { after: from, through: Math.min(from + RANGE, settled) }
      const { events, through } = await this.#readRange(range, limit, subjects)
      if (events.length > 0) return { events, through }
      from = Math.min(await this.#beforeNext(through), settled)
      // The rest may be long, and has no event on these subjects.
      if (subjects) return { events, through: from }
      this.#empty = { after, through: from }
    }
    return { events: [], through: Math.max(after, from) }
  }

  settledPlace(): Promise<number> {
    return this.#settled.through()
  }

  async placeBefore(time: number): Promise<number> {
    const { firstSeq = 0 } = await CREATED.find(this.#queries, { createdFrom: time })
    return Math.max(0, firstSeq - 1)
  }

  async readMessagesAfter(after: number, limit: number, subjects?: readonly string[]) {
    const settled = await this.#settled.through()
    if (after >= settled) return { messages: [], through: after }
    const range = { after, through: Math.min(after + RANGE, settled) }
    const inRange = db(this.#queries)
      .selectFrom('messages')
      .where('seq', '>', range.after)
      .where('seq', '<=', range.through)
      .where(subjects ? isOnOneOf(subjects) : sql<boolean>`true`)
      .orderBy('seq')
    const sizes = await inRange.select(SIZE).limit(limit).execute()
    const count = countWithin(sizes, BATCH_BYTES)
    const rows = count === 0 ? [] : await inRange.select(MESSAGE).limit(count).execute()
    const isWhole = sizes.length < limit && count === sizes.length
    if (!isWhole) return { messages: rows.map(toLogged), through: rows.at(-1)?.place ?? range.through }
    // A restored database continues far above the numbers of its backup.
    const through = Math.min(await this.#beforeNext(range.through), settled)
    return { messages: rows.map(toLogged), through: Math.max(through, range.through) }
  }

  async readMessagesAt(places: readonly number[]): Promise<Map<number, LoggedMessage | undefined>> {
    if (places.length === 0) return new Map()
    const at = (seqs: readonly number[]) => db(this.#queries).selectFrom('messages').where('seq', 'in', seqs)
    const sizes = await at(places).select(['seq', SIZE]).execute()
    const bytesAt = new Map(sizes.map(({ seq, bytes }) => [seq, bytes]))
    const rows = places.map((seq) => ({ seq, bytes: bytesAt.get(seq) ?? 0 }))
    const read = rows.slice(0, countWithin(rows, BATCH_BYTES)).map(({ seq }) => seq)
    const found = new Map((await at(read).select(MESSAGE).execute()).map((row) => [row.place, toLogged(row)]))
    return new Map(read.map((place) => [place, found.get(place)]))
  }

  async #readRange(
    { after, through }: Range,
    limit: number,
    subjects: readonly string[] | undefined,
  ): Promise<EventPage> {
    const part = { after, through, headers: EVENT_HEADERS_TEXT, limit }
    const sizes = await this.#readSizes(part, subjects)
    const count = countWithin(sizes, BATCH_BYTES)
    const rows = count === 0 ? [] : await this.#readEvents({ ...part, limit: count }, subjects)
    const events = rows.filter(isEvent).map(({ place, subject, payload }) => ({ place, subject, payload }))
    const isWhole = sizes.length < limit && count === sizes.length
    return { events, through: isWhole ? through : (rows.at(-1)?.place ?? through) }
  }

  #readSizes(part: Part, subjects: readonly string[] | undefined): Promise<RowSize[]> {
    if (!subjects) return readSizes(this.#queries, part)
    return rowsOf(db(this.#queries), part, subjects).select(SIZE).execute()
  }

  #readEvents(part: Part, subjects: readonly string[] | undefined): Promise<Row[]> {
    if (!subjects) return readEvents(this.#queries, part)
    return rowsOf(db(this.#queries), part, subjects).select(EVENT).execute()
  }

  /** The number before the next message: a restored database continues far above the numbers of its backup. */
  async #beforeNext(after: number): Promise<number> {
    const next = await findNextNumber(this.#queries, after)
    return next === undefined ? after : next - 1
  }

  #skipEmpty(after: number): number {
    const { after: begin, through } = this.#empty
    return begin <= after && after < through ? through : after
  }
}

function toLogged({
  headers,
  ...row
}: Row & { headers: string; createdAt: number; trace: string | null }): LoggedMessage {
  return { ...row, isEvent: headers === EVENT_HEADERS_TEXT && isEvent(row) }
}

/** Whether the subject is one of these, of which each is exact or a prefix that ends in `*`. */
function isOnOneOf(subjects: readonly string[]) {
  const conditions = subjects.map((each) =>
    each.endsWith('*')
      ? sql<boolean>`substr(subject, 1, ${sql.lit([...each].length - 1)}) = ${each.slice(0, -1)}`
      : sql<boolean>`subject = ${each}`,
  )
  return sql<boolean>`(${sql.join(conditions, sql` or `)})`
}

/** Telemetry has a log of its own, which also has the items that are dead messages. */
const OTHER_LOG = eventSource('telemetry')

function isEvent(row: Row): boolean {
  return isEventPayload(row) && !row.payload.startsWith(`"source":"${OTHER_LOG}"`, eventBegin(row).length)
}
