import { mapPage, type Page, type PageRequest } from '../../../kernel/page.ts'
import { NEXT_VERSION, type NewRowOf } from '../../../store/columns.ts'
import { CLOCK_DIFFERENCE_MS, type TimeSpan } from '../../../kernel/time.ts'
import { sizeOf } from '../../../store/pages.ts'
import type { Queries, Tx } from '../../../store/store.ts'
import { SETTLE_MS, type Silence, type SilenceState } from './model.ts'
import { db, pages, silences, readRows, changeRow, changeRows, lockable } from './tables.ts'

const SILENCE = silences.except('seq', 'dueAt')

type DueSilence = Silence & { readonly dueAt: number }

const insert = changeRows((on, row: NewRowOf<typeof silences>) =>
  on.insertInto('alert_silences').values(silences.values(row)),
)

const active = readRows((on, now: number) =>
  on
    .selectFrom('alert_silences')
    .select(SILENCE)
    .where('ends_at', '>', now)
    .where('starts_at', '<=', now)
    .where('ended_by', 'is', null),
)

const overlapping = readRows((on, from: number, to: number, limit: number) =>
  on
    .selectFrom('alert_silences')
    .select(SILENCE)
    .where('ends_at', '>', from)
    .where('starts_at', '<', to)
    .orderBy('seq', 'desc')
    .limit(limit),
)

interface End {
  readonly id: string
  readonly endsAt: number
  readonly seenAt: number
  readonly endedBy: string
  readonly dueAt: number
}

const setEnd = changeRows((on, end: End) =>
  on
    .updateTable('alert_silences')
    .set({ ...silences.set(end, 'endsAt', 'seenAt', 'endedBy', 'dueAt'), version: NEXT_VERSION })
    .where('id', '=', end.id),
)

const due = readRows((on, now: number, seenAfter: number) =>
  on
    .selectFrom('alert_silences')
    .select([...SILENCE, 'due_at as dueAt'])
    .where('due_at', 'is not', null)
    .where((row) =>
      row.or([row('due_at', '<=', now), row(row.fn.coalesce('seen_at', 'created_at'), '>', seenAfter)]),
    )
    .$narrowType<{ dueAt: number }>()
    .orderBy('due_at'),
)

const setDue = changeRow((on, change: { id: string; seen: number; dueAt: number | null }) =>
  on
    .updateTable('alert_silences')
    .set(silences.set(change, 'dueAt'))
    .where('id', '=', change.id)
    .where('due_at', '=', change.seen),
)

interface NextWindow {
  readonly id: string
  readonly seen: number
  readonly windowStartsAt: number | null
  readonly windowEndsAt: number | null
  readonly seenAt: number
  readonly dueAt: number
}

const setWindow = changeRow((on, nextWindow: NextWindow) =>
  on
    .updateTable('alert_silences')
    .set({
      ...silences.set(nextWindow, 'windowStartsAt', 'windowEndsAt', 'seenAt', 'dueAt'),
      version: NEXT_VERSION,
    })
    .where('id', '=', nextWindow.id)
    .where('due_at', '=', nextWindow.seen),
)

const setEndedBy = changeRow((on, change: { id: string; endedBy: string }) =>
  on
    .updateTable('alert_silences')
    .set({ ...silences.set(change, 'endedBy'), version: NEXT_VERSION })
    .where('id', '=', change.id)
    .where('ended_by', 'is', null),
)

export async function insertSilence(tx: Tx, silence: Silence, dueAt: number): Promise<void> {
  await insert(tx, { ...silence, dueAt })
}

/** Finds a silence and locks it until the end of the transaction. */
export const [findSilence, lockSilence] = lockable(
  (on, id: string) => on.selectFrom('alert_silences').select(SILENCE).where('id', '=', id),
  silences.decode,
)

/** The silences between their start and their end. A repeating silence may be outside of its windows. */
export async function listActive(queries: Queries, now: number): Promise<Silence[]> {
  return (await active(queries, now)).map((row) => silences.decode(row))
}

/** The silences that overlap a span of time, newest first. */
export async function listOverlapping(
  queries: Queries,
  { startsAt: from, endsAt: to }: TimeSpan,
  limit: number,
): Promise<Silence[]> {
  return (await overlapping(queries, from, to, limit)).map((row) => silences.decode(row))
}

// Each member is a state; its value is the time now. The window of one that repeats is as new as the work on its last end.
const pageOfSilences = pages(
  {
    table: 'alert_silences',
    createdAt: 'created_at',
    size: sizeOf('matchers', 'label_matchers', 'repeat', 'reason'),
  },
  (on) => on.selectFrom('alert_silences').select([...SILENCE, 'seq']),
  {
    pending: (query, now: number) =>
      query
        .where('ends_at', '>', now)
        .where('ended_by', 'is', null)
        .where((row) =>
          row.or([
            row('starts_at', '>', now),
            row('window_starts_at', '>', now),
            row('window_ends_at', '<=', now),
          ]),
        ),
    active: (query, now: number) =>
      query
        .where('ends_at', '>', now)
        .where('starts_at', '<=', now)
        .where('ended_by', 'is', null)
        .where((row) =>
          row.or([
            row('window_ends_at', 'is', null),
            row.and([row('window_starts_at', '<=', now), row('window_ends_at', '>', now)]),
          ]),
        ),
    ended: (query, now: number) =>
      query.where((row) => row.or([row('ends_at', '<=', now), row('ended_by', 'is not', null)])),
  },
)

/** Newest first. */
export async function listSilences(
  queries: Queries,
  { state, now }: { readonly state?: SilenceState; readonly now: number },
  page: PageRequest,
): Promise<Page<Silence>> {
  return mapPage(await pageOfSilences(queries, state ? { [state]: now } : {}, page), silences.decode)
}

/** Ends a silence at that time. */
export async function endSilence(tx: Tx, id: string, endsAt: number, endedBy: string): Promise<void> {
  await setEnd(tx, { id, endsAt, seenAt: endsAt, endedBy, dueAt: endsAt + SETTLE_MS })
}

/** The silences whose beginning or end has to be worked on, also those of a clock that was set back; the earliest first. */
export async function listDueSilences(queries: Queries, now: number): Promise<DueSilence[]> {
  const rows = await due(queries, now, now + CLOCK_DIFFERENCE_MS)
  return rows.map((row) => ({ ...silences.decode(row), dueAt: row.dueAt }))
}

/** Compare-and-set: claims the end of a silence until that time, or finishes it (null); `false` if another one has. */
export async function claimEnd(
  tx: Tx,
  id: string,
  { seen, until }: { readonly seen: number; readonly until: number | null },
): Promise<boolean> {
  return await setDue(tx, { id, seen, dueAt: until })
}

/**
 * Compare-and-set: sets the current or next window of a silence that repeats and is claimed, and what it was seen by; `false`
 * if another one has the claim.
 */
export async function moveWindow(
  tx: Tx,
  {
    window,
    ...change
  }: Omit<NextWindow, 'windowStartsAt' | 'windowEndsAt'> & { readonly window: TimeSpan | null },
): Promise<boolean> {
  const { startsAt: windowStartsAt = null, endsAt: windowEndsAt = null } = window ?? {}
  return await setWindow(tx, { ...change, windowStartsAt, windowEndsAt })
}

/** Records who has ended a silence; `false` if that is recorded already. */
export async function recordEnd(tx: Tx, id: string, endedBy: string): Promise<boolean> {
  return await setEndedBy(tx, { id, endedBy })
}

/** Removes the silences that have ended before that time; returns how many. */
export async function deleteEnded(tx: Tx, before: number): Promise<number> {
  const { numDeletedRows } = await db(tx)
    .deleteFrom('alert_silences')
    .where('ends_at', '<', before)
    .where('due_at', 'is', null)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
