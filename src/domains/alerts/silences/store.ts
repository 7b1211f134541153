import { NEXT_VERSION, type NewRowOf } from '../../../store/columns.ts'
import { sizeOf } from '../../../store/pages.ts'
import { silences, changeRow, changeRows, lockable, pages, readRows } from './tables.ts'

type SilenceRow = NewRowOf<typeof silences>

const SILENCE = silences.except('seq', 'dueAt')

export const insertSilence = changeRows((on, silence: SilenceRow) =>
  on.insertInto('alert_silences').values(silences.values(silence)),
)

/** Finds a silence and locks it until the end of the transaction. */
export const [findSilence, lockSilence] = lockable(
  (on, id: string) => on.selectFrom('alert_silences').select(SILENCE).where('id', '=', id),
  silences.decode,
)

/** The silences between their start and their end. A repeating silence may be outside of its windows. */
export const listActive = readRows(
  (on, now: number) =>
    on
      .selectFrom('alert_silences')
      .select(SILENCE)
      .where('ends_at', '>', now)
      .where('starts_at', '<=', now)
      .where('ended_by', 'is', null),
  silences.decode,
)

/** The silences that overlap a span of time, newest first. */
export const listOverlapping = readRows(
  (on, from: number, to: number, limit: number) =>
    on
      .selectFrom('alert_silences')
      .select(SILENCE)
      .where('ends_at', '>', from)
      .where('starts_at', '<', to)
      .orderBy('seq', 'desc')
      .limit(limit),
  silences.decode,
)

/**
 * The silences in a state, newest first. Each member of the filter is a state, and its value is the time now. The window of
 * a silence that repeats is as new as the work on its last end.
 */
export const listSilences = pages(
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
  silences.decode,
)

/** The silences that are due, and those that were worked on after `latest`; the earliest first. */
export const listDueSilences = readRows(
  (on, now: number, latest: number) =>
    on
      .selectFrom('alert_silences')
      .select([...SILENCE, 'due_at as dueAt'])
      .where('due_at', 'is not', null)
      .where((row) =>
        row.or([row('due_at', '<=', now), row(row.fn.coalesce('seen_at', 'created_at'), '>', latest)]),
      )
      .$narrowType<{ dueAt: number }>()
      .orderBy('due_at'),
  (row) => ({ ...silences.decode(row), dueAt: row.dueAt }),
)

/** Ends a silence at that time. */
export const endSilence = changeRows((on, id: string, endsAt: number, endedBy: string, dueAt: number) =>
  on
    .updateTable('alert_silences')
    .set({ ends_at: endsAt, seen_at: endsAt, ended_by: endedBy, due_at: dueAt, version: NEXT_VERSION })
    .where('id', '=', id),
)

/** Compare-and-set of the time at which a silence is due: `false` if another process has changed it. */
export const moveDue = changeRow((on, id: string, dueAt: number, nextDueAt: number | null) =>
  on
    .updateTable('alert_silences')
    .set({ due_at: nextDueAt })
    .where('id', '=', id)
    .where('due_at', '=', dueAt),
)

/** Compare-and-set as {@link moveDue}, also of the current or next window and of the time of this work. */
export const moveWindow = changeRow(
  (
    on,
    id: string,
    dueAt: number,
    next: Pick<SilenceRow, 'windowStartsAt' | 'windowEndsAt' | 'seenAt' | 'dueAt'>,
  ) =>
    on
      .updateTable('alert_silences')
      .set({
        ...silences.set(next, 'windowStartsAt', 'windowEndsAt', 'seenAt', 'dueAt'),
        version: NEXT_VERSION,
      })
      .where('id', '=', id)
      .where('due_at', '=', dueAt),
)

/** Records who has ended a silence; `false` if that is recorded already. */
export const recordEnd = changeRow((on, id: string, endedBy: string) =>
  on
    .updateTable('alert_silences')
    .set({ ended_by: endedBy, version: NEXT_VERSION })
    .where('id', '=', id)
    .where('ended_by', 'is', null),
)

/** Removes the silences that have ended before that time; returns how many. */
export const deleteEnded = changeRows((on, before: number) =>
  on.deleteFrom('alert_silences').where('ends_at', '<', before).where('due_at', 'is', null),
)
