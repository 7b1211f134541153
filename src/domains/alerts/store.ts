import { hash } from 'node:crypto'
import { sql } from 'kysely'
import {
  mapPage,
  OLDEST_FIRST,
  pageOf,
  type Page,
  type PageOrder,
  type PageRequest,
} from '../../kernel/page.ts'
import type { NewRowOf } from '../../store/columns.ts'
import { contains, sizeOf } from '../../store/pages.ts'
import { touchedRow } from '../../store/locking.ts'
import type { Queries, Reads, TouchedRow, Tx } from '../../store/store.ts'
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
  db,
  pages,
  readRow,
  readRows,
  changeRow,
  changeRows,
} from './tables.ts'

type Row = NewRowOf<typeof alerts>

const ALERT = alerts.except('seq', 'identity', 'dueAt')

const VIEW = alerts.pick(
  'id',
  'alarmId',
  'source',
  'title',
  'body',
  'level',
  'weight',
  'serverAddr',
  'status',
  'count',
  'firstAt',
  'lastAt',
  'recoveredAt',
  'runbookUrl',
  'startsAt',
  'generatorUrl',
  'labels',
  'version',
)

const insert = changeRow((on, row: Row) =>
  on
    .insertInto('alerts')
    .values(alerts.values(row))
    .onConflict((conflict) => conflict.column('identity').doNothing()),
)

const update = changeRows((on, change: Alert & { dueAt: number | null }) =>
  on
    .updateTable('alerts')
    .set(
      alerts.set(
        change,
        'source',
        'title',
        'body',
        'level',
        'weight',
        'serverAddr',
        'status',
        'count',
        'lastAt',
        'recoveredAt',
        'reports',
        'wasCritical',
        'wasHigh',
        'acknowledgedWeight',
        'acknowledgedUntil',
        'expiresAt',
        'groupId',
        'labels',
        'repeatEveryMs',
        'repeatAt',
        'runbookUrl',
        'startsAt',
        'generatorUrl',
        'swings',
        'freeze',
        'dueAt',
        'version',
      ),
    )
    .where('id', '=', change.id),
)

const findByIdentity = readRow((on, key: string) =>
  on.selectFrom('alerts').select(VIEW).where('identity', '=', key),
)

// The status is a literal: the partial index on firing alerts covers only queries that repeat its condition.
const countFiringOf = readRow((on, weight: AlertWeight, limit: number) =>
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
)

type Origin = Pick<Alert, 'firstAt' | 'createdBy' | 'firstWeight'>

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

const due = readRows((on, now: number, limit: number) =>
  on.selectFrom('alerts').select('id').where('due_at', '<=', now).orderBy('due_at').limit(limit),
)

interface FarTimes {
  readonly now: number
  readonly acknowledgedUntil: number
  readonly frozenUntil: number
  readonly limit: number
}

const tooFar = readRows((on, farTimes: FarTimes) =>
  on
    .selectFrom('alerts')
    .select('id')
    .where('due_at', '>', farTimes.now)
    .where((row) =>
      row.or([
        row('acknowledged_until', '>', farTimes.acknowledgedUntil),
        row.and([row('status', '=', 'frozen'), row('due_at', '>', farTimes.frozenUntil)]),
        row(sql<number>`repeat_at - repeat_every_ms`, '>', farTimes.now),
      ]),
    )
    .orderBy('due_at')
    .limit(farTimes.limit),
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
  return await insert(tx, { ...alert, identity: identityOf(alert), dueAt: dueAt(alert) })
}

export const findAlert = readRow((on, id: string) =>
  on.selectFrom('alerts').select(VIEW).where('id', '=', id),
)

/** Finds the alert with that `alarm_id`. */
export function findAlarm(queries: Queries, alarmId: string): Promise<AlertView | undefined> {
  return findByIdentity(queries, keyOf(alarmId))
}

/** The number of firing alerts of a weight, counted up to `limit`. */
export async function countFiring(queries: Queries, weight: AlertWeight, limit: number): Promise<number> {
  return (await countFiringOf(queries, weight, limit))?.alerts ?? 0
}

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
    .select(VIEW)
    .where('identity', 'in', alarmIds.map(keyOf))
    .where('weight', '>', 0)
    .execute()
}

/** Finds the alert with that `alarm_id` and locks it until the end of the transaction. */
export function lockAlarm(tx: Tx, alarmId: string): Promise<Alert | undefined> {
  return lockByIdentity(tx, keyOf(alarmId))
}

/** The ids of alerts whose time has come, the longest overdue first. */
export async function listDueAlerts(queries: Queries, now: number, limit: number): Promise<string[]> {
  return (await due(queries, now, limit)).map(({ id }) => id)
}

/** The ids of alerts with a time that is later than those, which was written before the clock was set back. */
export async function listFarAlerts(queries: Queries, times: FarTimes): Promise<string[]> {
  return (await tooFar(queries, times)).map(({ id }) => id)
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
    .select([...VIEW, 'seq'])
    .where('status', '=', 'firing')
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit),
)

/** Writes a changed alert; the transaction must have locked it. */
export async function updateAlert(tx: Tx, alert: Alert): Promise<void> {
  await update(tx, { ...alert, dueAt: dueAt(alert) })
}

const insertEntry = changeRows((on, row: NewRowOf<typeof alertHistory>) =>
  on.insertInto('alert_history').values(alertHistory.values(row)),
)

/** Writes one line of the history; the first report has none, because the row of the alert records it. */
export async function insertHistory(tx: Tx, alertId: string, entry: ChangeEntry): Promise<void> {
  const { from: fromStatus, to: toStatus, at, weight, actor, note, cause } = entry
  await insertEntry(tx, { alertId, at, fromStatus, toStatus, weight, actor, note, cause })
}

const pageOfHistory = pages(
  { table: 'alert_history', createdAt: 'at', size: sizeOf('note') },
  (on) =>
    on
      .selectFrom('alert_history')
      .select(['seq', 'at', 'from_status as from', 'to_status as to', 'weight', 'actor', 'note', 'cause']),
  { alertId: (query, alertId: string) => query.where('alert_id', '=', alertId) },
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
  const changes = mapPage(
    await pageOfHistory(queries, { alertId }, { ...page, order: OLDEST_FIRST }),
    alertHistory.decode,
  )
  const line = firstLine(origin)
  if (after || line.at < createdFrom || line.at >= createdTo) return changes
  const entries: (HistoryEntry & { seq: number })[] = [line, ...changes.items]
  return entries.length > limit
    ? pageOf<HistoryEntry & { seq: number }, 'seq'>(entries, limit, OLDEST_FIRST, 'alert_history')
    : { items: entries, next: changes.next }
}

function firstLine({ firstAt: at, createdBy: actor, firstWeight: weight }: Origin) {
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
export async function deleteRecovered(tx: Tx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db(tx)
    .deleteFrom('alerts')
    .where('id', 'in', (of) =>
      of
        .selectFrom('alerts')
        .select('id')
        .where('recovered_at', '<', before)
        .where('last_at', '<', before)
        .where('status', '=', 'recovered')
        .orderBy('recovered_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

const extendGroup = changeRows((on, row: NewRowOf<typeof alertGroups>) =>
  on
    .insertInto('alert_groups')
    .values(alertGroups.values(row))
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ fires_until: row.firesUntil, is_truncated: row.isTruncated }),
    ),
)

const findGroupBefore = readRow((on, before: number) =>
  on.selectFrom('alert_groups').select('id').where('fires_until', '<', before).limit(1),
)

const findGroup = readRow((on, id: string) =>
  on.selectFrom('alert_groups').select('fires_until as firesUntil').where('id', '=', id),
)

/** The alerts of that group fire until then, unless they are resolved or the group is heard of again. */
export async function saveGroup(
  tx: Tx,
  group: { readonly id: string; readonly firesUntil: number; readonly isTruncated: boolean },
): Promise<void> {
  await extendGroup(tx, { ...group, isTruncated: group.isTruncated ? (1 as const) : (0 as const) })
}

/** The groups whose last notification was not whole. */
export async function listTruncated(queries: Queries): Promise<string[]> {
  const rows = await db(queries)
    .selectFrom('alert_groups')
    .select('id')
    .where('is_truncated', '=', 1)
    .execute()
  return rows.map(({ id }) => id)
}

/** Until when the alerts of a group fire; undefined if it was not heard of for so long that it was removed. */
export async function findGroupEnd(queries: Queries, id: string): Promise<number | undefined> {
  return (await findGroup(queries, id))?.firesUntil
}

/** Whether there is a group whose alerts have expired before that time. */
export async function hasGroupBefore(queries: Queries, before: number): Promise<boolean> {
  return (await findGroupBefore(queries, before)) !== undefined
}

/** Removes the groups whose alerts have expired before that time. */
export async function deleteGroups(tx: Tx, before: number): Promise<void> {
  await db(tx).deleteFrom('alert_groups').where('fires_until', '<', before).execute()
}

/** The query that counts the alerts of each status. It reads a whole index, so it runs with `readAside`. */
export function countAlerts(queries: Queries) {
  return db(queries)
    .selectFrom('alerts')
    .select(['status', (each) => each.fn.countAll<number>().as('alerts')])
    .groupBy('status')
}

export interface AlertFilter {
  readonly status?: AlertStatus | readonly AlertStatus[]
  readonly level?: AlertLevel
  readonly severity?: Severity
  readonly source?: string
  /** Contained in the title, the source, the alarm id or the address of the server. */
  readonly text?: string
}

/** Sorts by the current severity: an alert whose severity changes while the pages are read may be skipped or repeated. */
export const MOST_SEVERE_FIRST: PageOrder<'weight' | 'seq'> = {
  name: 'severity',
  keys: [
    { name: 'weight', type: 'integer', direction: 'desc' },
    { name: 'seq', type: 'integer', direction: 'desc' },
  ],
}

/** Newest first, by the time of the first report, unless the page has another order. */
export const listAlerts = pages(
  {
    table: 'alerts',
    createdAt: 'first_at',
    literals: ['severity'],
    size: sizeOf('title', 'body', 'labels', 'generator_url'),
  },
  (on) => on.selectFrom('alerts').select([...VIEW, 'seq']),
  {
    status: (query, status: AlertStatus) => query.where('status', '=', status),
    level: (query, level: AlertLevel) => query.where('level', '=', level),
    severity: (query, severity: Severity) => query.where('weight', 'in', weightsOf(severity)),
    source: (query, source: string) => query.where('source', '=', source),
    text: contains('title', 'source', 'alarm_id', 'server_addr'),
  },
)

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
