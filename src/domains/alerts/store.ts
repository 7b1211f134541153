import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { OLDEST_FIRST, orderByIntegers, pageOf, type Page, type PageRequest } from '../../kernel/page.ts'
import type { NewRowOf } from '../../store/columns.ts'
import { contains, sizeOf, type ListFilter } from '../../store/pages.ts'
import { touchedRow } from '../../store/locking.ts'
import type { Queries, TouchedRow, Tx } from '../../store/store.ts'
import {
  dueAt,
  inhibitedIdOf,
  inhibitorIdOf,
  weightsOf,
  type Alert,
  type AlertLevel,
  type AlertStatus,
  type AlertView,
  type AlertWeight,
  type Report,
  type Severity,
} from './model.ts'
import type { ChangeEntry, HistoryEntry } from './transitions.ts'
import {
  alertGroups,
  alertHistory,
  alerts,
  alertViews,
  changeRow,
  changeRows,
  db,
  pages,
  readRow,
  readRows,
} from './tables.ts'

const ALERT = alerts.except('seq', 'identity', 'dueAt')

const insertRow = changeRow((on, row: NewRowOf<typeof alerts>) =>
  on
    .insertInto('alerts')
    .values(alerts.values(row))
    .onConflict((conflict) => conflict.column('identity').doNothing()),
)

const updateRow = changeRows((on, row: Alert & { dueAt: number | null }) =>
  on
    .updateTable('alerts')
    .set(alerts.setExcept(row, 'id', 'identity', 'alarmId', 'firstAt', 'createdBy', 'firstWeight'))
    .where('id', '=', row.id),
)

const findByIdentity = readRow((on, identity: string) =>
  on.selectFrom('alerts').select(alertViews.all).where('identity', '=', identity),
)

const findOrigin = readRow((on, id: string) =>
  on
    .selectFrom('alerts')
    .select(alerts.pick('firstAt', 'createdBy', 'firstWeight'))
    .where('id', '=', id),
)

const lockBy = (key: 'id' | 'identity') =>
  readRow(
    (on, value: string) => on.selectFrom('alerts').select(ALERT).where(key, '=', value).forUpdate(),
    alerts.decode,
  )

/** Finds an alert by its id and locks it until the end of the transaction. */
export const lockAlert = lockBy('id')

const lockByIdentity = lockBy('identity')

const shareByIdentity = readRow((on, key: string) =>
  on
    .selectFrom('alerts')
    .select(alerts.pick('id', 'alarmId', 'source', 'weight'))
    .where('identity', '=', key)
    .forShare(),
)

/** The ids of alerts whose time has come, the longest overdue first. */
export const listDueAlerts = readRows(
  (on, now: number, limit: number) =>
    on.selectFrom('alerts').select('id').where('due_at', '<=', now).orderBy('due_at').limit(limit),
  ({ id }) => id,
)

interface FarTimes {
  readonly now: number
  readonly acknowledgedUntil: number
  readonly frozenUntil: number
}

/** The ids of alerts with a later time than these, which was written before the clock was set back. */
export const listFarAlerts = readRows(
  (on, times: FarTimes, limit: number) =>
    on
      .selectFrom('alerts')
      .select('id')
      .where('due_at', '>', times.now)
      .where((row) =>
        row.or([
          row('acknowledged_until', '>', times.acknowledgedUntil),
          row.and([row('status', '=', 'frozen'), row('due_at', '>', times.frozenUntil)]),
          row(sql<number>`repeat_at - repeat_every_ms`, '>', times.now),
        ]),
      )
      .orderBy('due_at')
      .limit(limit),
  ({ id }) => id,
)

/** What a report touches: its alert, the one that inhibits it, and the one that it inhibits. */
export function reportedRows(report: Report): TouchedRow[] {
  const others = [inhibitorIdOf(report), inhibitedIdOf(report)].filter((id) => id !== undefined)
  return [identityOf(report), ...others.map(keyOf)].map((identity) => touchedRow('alerts', identity))
}

/**
 * Returns `false` when an alert of that identity exists. The caller can lock it then, because an insertion waits for a
 * concurrent one of the same identity.
 */
export async function insertAlert(tx: Tx, alert: Alert): Promise<boolean> {
  return insertRow(tx, { ...alert, identity: identityOf(alert), dueAt: dueAt(alert) })
}

export const findAlert = readRow((on, id: string) =>
  on.selectFrom('alerts').select(alertViews.all).where('id', '=', id),
)

/** Finds the alert with that `alarm_id`. */
export function findAlarm(queries: Queries, alarmId: string): Promise<AlertView | undefined> {
  return findByIdentity(queries, keyOf(alarmId))
}

// The status is a literal: the partial index on firing alerts covers only queries that repeat its condition.
/** The number of firing alerts of a weight, counted up to `limit`. */
export const countFiring = readRow(
  (on, weight: AlertWeight, limit: number) =>
    on
      .selectFrom(
        on
          .selectFrom('alerts')
          .select('weight')
          .where('status', '=', sql.lit('firing'))
          .where('weight', '=', weight)
          .limit(limit)
          .as('counted'),
      )
      .select((row) => row.fn.countAll<number>().as('alerts')),
  ({ alerts: count }) => count,
)

/** Finds the alert of a report and locks it until the end of the transaction. */
export function lockReported(tx: Tx, report: Report): Promise<Alert | undefined> {
  return lockByIdentity(tx, identityOf(report))
}

/** Finds the alert with that `alarm_id`; until the end of the transaction it does not change. */
export function shareAlert(tx: Tx, alarmId: string) {
  return shareByIdentity(tx, keyOf(alarmId))
}

/** Finds alerts by their ids; until the end of the transaction they do not change. */
export async function shareAlerts(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, Alert>> {
  const rows = await inLockOrder(tx, ids).forShare().execute()
  return new Map(rows.map((row) => [row.id, alerts.decode(row)]))
}

/** Locks those of the alerts that exist until the end of the transaction. */
export async function lockAlerts(tx: Tx, ids: readonly string[]): Promise<Alert[]> {
  const rows = await inLockOrder(tx, ids).forUpdate().execute()
  return rows.map((row) => alerts.decode(row))
}

/** The order in which an intake locks alerts, which prevents deadlocks. */
function inLockOrder(queries: Queries, ids: readonly string[]) {
  return db(queries).selectFrom('alerts').select(ALERT).where('id', 'in', ids).orderBy('identity')
}

/** The alerts with these `alarm_id`s that have not recovered. */
export async function findOpenAlarms(queries: Queries, alarmIds: readonly string[]): Promise<AlertView[]> {
  if (alarmIds.length === 0) return []
  return db(queries)
    .selectFrom('alerts')
    .select(alertViews.all)
    .where('identity', 'in', alarmIds.map(keyOf))
    .where('weight', '>', 0)
    .execute()
}

/** Finds the alert with that `alarm_id` and locks it until the end of the transaction. */
export function lockAlarm(tx: Tx, alarmId: string): Promise<Alert | undefined> {
  return lockByIdentity(tx, keyOf(alarmId))
}

/** Locks alerts, except those that another transaction has locked. */
export async function lockFree(tx: Tx, ids: readonly string[]): Promise<Alert[]> {
  const rows = await db(tx)
    .selectFrom('alerts')
    .select(ALERT)
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .skipLocked()
    .execute()
  return rows.map((row) => alerts.decode(row))
}

/** Firing alerts with a larger number than `after`, in the order of their numbers. */
export const listFiring = readRows((on, after: number, limit: number) =>
  on
    .selectFrom('alerts')
    .select([...alertViews.all, 'seq'])
    .where('status', '=', 'firing')
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit),
)

/** Writes a changed alert; the transaction must have locked it. */
export async function updateAlert(tx: Tx, alert: Alert): Promise<void> {
  await updateRow(tx, { ...alert, dueAt: dueAt(alert) })
}

const insertEntry = changeRows((on, entry: NewRowOf<typeof alertHistory>) =>
  on.insertInto('alert_history').values(alertHistory.values(entry)),
)

/** Writes one line of the history; the first report has none, because the row of the alert records it. */
export async function insertHistory(tx: Tx, alertId: string, entry: ChangeEntry): Promise<void> {
  const { from: fromStatus, to: toStatus, at, weight, actor, note, cause } = entry
  await insertEntry(tx, { alertId, at, fromStatus, toStatus, weight, actor, note, cause })
}

const listChanges = pages(
  { table: 'alert_history', createdAt: 'at', size: sizeOf('note') },
  (on) =>
    on
      .selectFrom('alert_history')
      .select(['seq', 'at', 'from_status as from', 'to_status as to', 'weight', 'actor', 'note', 'cause']),
  { alertId: (query, alertId: string) => query.where('alert_id', '=', alertId) },
  alertHistory.decode,
)

/** Oldest first; undefined if there is no such alert. */
export async function listHistory(
  queries: Queries,
  alertId: string,
  page: PageRequest,
): Promise<Page<HistoryEntry> | undefined> {
  const origin = await findOrigin(queries, alertId)
  if (!origin) return undefined
  const { limit, after, createdFrom = 0, createdTo = Infinity } = page
  const changes = await listChanges(queries, { alertId }, { ...page, order: OLDEST_FIRST })
  const first = firstEntry(origin)
  if (after || first.at < createdFrom || first.at >= createdTo) return changes
  const entries: (HistoryEntry & { seq: number })[] = [first, ...changes.items]
  if (entries.length <= limit) return { items: entries, next: changes.next }
  return pageOf<HistoryEntry & { seq: number }, 'seq'>(entries, limit, OLDEST_FIRST, 'alert_history')
}

function firstEntry({
  firstAt: at,
  createdBy: actor,
  firstWeight: weight,
}: Pick<Alert, 'firstAt' | 'createdBy' | 'firstWeight'>) {
  return {
    seq: 0,
    at,
    from: null,
    to: weight > 0 ? 'firing' : 'recovered',
    weight,
    actor,
    note: null,
    cause: null,
  } as const
}

/** Removes one batch of alerts that have recovered before that time; returns how many. */
export const deleteRecovered = changeRows((on, before: number, limit: number) =>
  on
    .deleteFrom('alerts')
    .where('id', 'in', (subquery) =>
      subquery
        .selectFrom('alerts')
        .select('id')
        .where('recovered_at', '<', before)
        .where('last_at', '<', before)
        .where('status', '=', 'recovered')
        .orderBy('recovered_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    ),
)

/** The alerts of that group fire until then, unless they are resolved or the group is heard of again. */
export const saveGroup = changeRows((on, group: NewRowOf<typeof alertGroups>) =>
  on
    .insertInto('alert_groups')
    .values(alertGroups.values(group))
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet(alertGroups.set(group, 'firesUntil', 'isTruncated')),
    ),
)

/** The ids of groups whose last notification was not whole. */
export const listTruncated = readRows(
  (on) => on.selectFrom('alert_groups').select('id').where('is_truncated', '=', 1),
  ({ id }) => id,
)

/** Until when the alerts of a group fire; undefined if it was not heard of for so long that it was removed. */
export const findGroupEnd = readRow(
  (on, id: string) => on.selectFrom('alert_groups').select('fires_until as firesUntil').where('id', '=', id),
  ({ firesUntil }) => firesUntil,
)

/** A group whose alerts have expired before that time. */
export const findExpiredGroup = readRow((on, before: number) =>
  on.selectFrom('alert_groups').select('id').where('fires_until', '<', before).limit(1),
)

export const deleteExpiredGroups = changeRows((on, before: number) =>
  on.deleteFrom('alert_groups').where('fires_until', '<', before),
)

/** The query that counts the alerts of each status. It reads a whole index, so it runs with `readAside`. */
export function countAlerts(queries: Queries) {
  return db(queries)
    .selectFrom('alerts')
    .select(['status', (each) => each.fn.countAll<number>().as('alerts')])
    .groupBy('status')
}

/** Sorts by the current severity: an alert whose severity changes while the pages are read may be skipped or repeated. */
export const MOST_SEVERE_FIRST = orderByIntegers('severity', 'desc', ['weight', 'seq'])

/** Newest first, by the time of the first report, unless the page has another order. */
export const listAlerts = pages(
  {
    table: 'alerts',
    createdAt: 'first_at',
    literals: ['severity'],
    size: sizeOf('title', 'body', 'labels', 'generator_url'),
  },
  (on) => on.selectFrom('alerts').select([...alertViews.all, 'seq']),
  {
    status: (query, status: AlertStatus) => query.where('status', '=', status),
    level: (query, level: AlertLevel) => query.where('level', '=', level),
    severity: (query, severity: Severity) => query.where('weight', 'in', weightsOf(severity)),
    source: (query, source: string) => query.where('source', '=', source),
    text: contains('title', 'source', 'alarm_id', 'server_addr'),
  },
)

export type AlertFilter = ListFilter<typeof listAlerts>

/**
 * The identity of an alert as one text (docs/specification.md, Alerts). Source, title and address are hashed, so that
 * the index stays small however long they are.
 */
function identityOf({ alarmId, source, title, serverAddr }: Report | Alert): string {
  if (alarmId !== null) return keyOf(alarmId)
  return `sha256:${hash('sha256', JSON.stringify([source, title, serverAddr]), 'base64url')}`
}

function keyOf(alarmId: string): string {
  return `alarm_id:${alarmId}`
}
