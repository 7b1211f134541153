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
import { contains, eachStatus, sizeOf } from '../../store/pages.ts'
import { lockRows, touchedRow } from '../../store/locking.ts'
import { first, type Queries, type Reads, type TouchedRow, type Tx } from '../../store/store.ts'
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
import { alertGroups, alertHistory, alerts, db, pages, statement } from './tables.ts'

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

/** A row as it is read: not decoded yet. */
type StoredAlert = Omit<Alert, 'wasCritical' | 'wasHigh' | 'swings' | 'freeze'> & {
  wasCritical: number
  wasHigh: number
  swings: string
  freeze: string | null
}

const insert = statement<Row>((on, value) =>
  on
    .insertInto('alerts')
    .values(alerts.values(value))
    .onConflict((conflict) => conflict.column('identity').doNothing()),
)

const update = statement<Alert & { dueAt: number | null }>((on, value) =>
  on
    .updateTable('alerts')
    .set(
      alerts.set(
        value,
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
    .where('id', '=', value('id')),
)

const findById = statement<{ id: string }, AlertView>((on, value) =>
  on.selectFrom('alerts').select(VIEW).where('id', '=', value('id')),
)

const findByIdentity = statement<{ key: string }, AlertView>((on, value) =>
  on.selectFrom('alerts').select(VIEW).where('identity', '=', value('key')),
)

// The status is a literal: the partial index on firing alerts covers only queries that repeat its condition.
const countFiringOf = statement<{ weight: AlertWeight; limit: number }, { alerts: number }>((on, value) =>
  on
    .selectFrom(
      on
        .selectFrom('alerts')
        .select('weight')
        .where('status', '=', sql.lit('firing'))
        .where('weight', '=', value('weight'))
        .limit(value('limit'))
        .as('counted'),
    )
    .select((row) => row.fn.countAll<number>().as('alerts')),
)

type Origin = Pick<Alert, 'firstAt' | 'createdBy' | 'firstWeight'>

const findOrigin = statement<{ id: string }, Origin>((on, value) =>
  on
    .selectFrom('alerts')
    .select(alerts.pick('firstAt', 'createdBy', 'firstWeight'))
    .where('id', '=', value('id')),
)

const lockBy = (key: 'id' | 'identity') =>
  statement<{ key: string }, StoredAlert>((on, value, capabilities) =>
    on.selectFrom('alerts').select(ALERT).where(key, '=', value('key')).$call(lockRows(capabilities)),
  )

const lockById = lockBy('id')
const lockByIdentity = lockBy('identity')

const shareByIdentity = statement<{ key: string }, Pick<AlertView, 'id' | 'alarmId' | 'source' | 'weight'>>(
  (on, value, { concurrentWriters }) =>
    on
      .selectFrom('alerts')
      .select(alerts.pick('id', 'alarmId', 'source', 'weight'))
      .where('identity', '=', value('key'))
      .$if(concurrentWriters, (query) => query.forShare()),
)

const due = statement<{ now: number; limit: number }, { id: string }>((on, value) =>
  on
    .selectFrom('alerts')
    .select('id')
    .where('due_at', '<=', value('now'))
    .orderBy('due_at')
    .limit(value('limit')),
)

interface FarTimes {
  readonly now: number
  readonly acknowledgedUntil: number
  readonly frozenUntil: number
  readonly limit: number
}

const tooFar = statement<FarTimes, { id: string }>((on, value) =>
  on
    .selectFrom('alerts')
    .select('id')
    .where('due_at', '>', value('now'))
    .where((row) =>
      row.or([
        row('acknowledged_until', '>', value('acknowledgedUntil')),
        row.and([row('status', '=', 'frozen'), row('due_at', '>', value('frozenUntil'))]),
        row(sql<number>`repeat_at - repeat_every_ms`, '>', value('now')),
      ]),
    )
    .orderBy('due_at')
    .limit(value('limit')),
)

const firing = statement<{ after: number; limit: number }, AlertView & { seq: number }>((on, value) =>
  on
    .selectFrom('alerts')
    .select([...VIEW, 'seq'])
    .where('status', '=', 'firing')
    .where('seq', '>', value('after'))
    .orderBy('seq')
    .limit(value('limit')),
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
  return (await tx.change(insert, { ...alert, identity: identityOf(alert), dueAt: dueAt(alert) })) === 1
}

export function findAlert(queries: Queries, id: string): Promise<AlertView | undefined> {
  return first(queries, findById, { id })
}

/** Finds the alert with that `alarm_id`. */
export function findAlarm(queries: Queries, alarmId: string): Promise<AlertView | undefined> {
  return first(queries, findByIdentity, { key: keyOf(alarmId) })
}

/** The number of firing alerts of a weight, counted up to `limit`. */
export async function countFiring(queries: Queries, weight: AlertWeight, limit: number): Promise<number> {
  return (await first(queries, countFiringOf, { weight, limit }))?.alerts ?? 0
}

/** Finds an alert by its id and locks it until the end of the transaction. */
export async function lockAlert(tx: Tx, id: string): Promise<Alert | undefined> {
  const row = await first(tx, lockById, { key: id })
  return row && alerts.decode(row)
}

/** Finds the alert of a report and locks it until the end of the transaction. */
export async function lockReported(tx: Tx, report: Report): Promise<Alert | undefined> {
  const row = await first(tx, lockByIdentity, { key: identityOf(report) })
  return row && alerts.decode(row)
}

/** Finds the alert with that `alarm_id`; until the end of the transaction it does not change. */
export function shareAlert(tx: Tx, alarmId: string) {
  return first(tx, shareByIdentity, { key: keyOf(alarmId) })
}

/** Finds alerts by their ids; until the end of the transaction they do not change. */
export async function shareAlerts(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, Alert>> {
  const rows = await inLockOrder(tx, ids)
    .$call(lockRows(tx.capabilities, { share: true }))
    .execute()
  return new Map(rows.map((row) => [row.id, alerts.decode(row)]))
}

/** Locks those of the alerts that exist until the end of the transaction. */
export async function lockAlerts(tx: Tx, ids: readonly string[]): Promise<Alert[]> {
  const rows = await inLockOrder(tx, ids).$call(lockRows(tx.capabilities)).execute()
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
export async function lockAlarm(tx: Tx, alarmId: string): Promise<Alert | undefined> {
  const row = await first(tx, lockByIdentity, { key: keyOf(alarmId) })
  return row && alerts.decode(row)
}

/** The ids of alerts whose time has come, the longest overdue first. */
export async function listDueAlerts(queries: Queries, now: number, limit: number): Promise<string[]> {
  return (await queries.run(due, { now, limit })).map(({ id }) => id)
}

/** The ids of alerts with a time that is later than those, which was written before the clock was set back. */
export async function listFarAlerts(queries: Queries, times: FarTimes): Promise<string[]> {
  return (await queries.run(tooFar, times)).map(({ id }) => id)
}

/** Locks alerts, except those that another transaction has locked. */
export async function lockFree(tx: Tx, ids: readonly string[]): Promise<Alert[]> {
  const rows = await db(tx)
    .selectFrom('alerts')
    .select(ALERT)
    .where('id', 'in', ids)
    .orderBy('id')
    .$call(lockRows(tx.capabilities, { skipLocked: true }))
    .execute()
  return rows.map((row) => alerts.decode(row))
}

/** Firing alerts with a larger number than `after`, in the order of their numbers. */
export function listFiring(
  queries: Queries,
  after: number,
  limit: number,
): Promise<(AlertView & { seq: number })[]> {
  return queries.run(firing, { after, limit })
}

/** Writes a changed alert; the transaction must have locked it. */
export async function updateAlert(tx: Tx, alert: Alert): Promise<void> {
  await tx.change(update, { ...alert, dueAt: dueAt(alert) })
}

const insertEntry = statement<NewRowOf<typeof alertHistory>>((on, value) =>
  on.insertInto('alert_history').values(alertHistory.values(value)),
)

/** Writes one line of the history; the first report has none, because the row of the alert records it. */
export async function insertHistory(tx: Tx, alertId: string, entry: ChangeEntry): Promise<void> {
  const { from: fromStatus, to: toStatus, at, weight, actor, note, cause } = entry
  await tx.change(insertEntry, { alertId, at, fromStatus, toStatus, weight, actor, note, cause })
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
  const origin = await first(queries, findOrigin, { id: alertId })
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
        .$call(lockRows(tx.capabilities, { skipLocked: true })),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

const extendGroup = statement<NewRowOf<typeof alertGroups>>((on, value) =>
  on
    .insertInto('alert_groups')
    .values(alertGroups.values(value))
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ fires_until: value('firesUntil'), is_truncated: value('isTruncated') }),
    ),
)

const findGroupBefore = statement<{ before: number }, { id: string }>((on, value) =>
  on.selectFrom('alert_groups').select('id').where('fires_until', '<', value('before')).limit(1),
)

const findGroup = statement<{ id: string }, { firesUntil: number }>((on, value) =>
  on.selectFrom('alert_groups').select('fires_until as firesUntil').where('id', '=', value('id')),
)

/** The alerts of that group fire until then, unless they are resolved or the group is heard of again. */
export async function saveGroup(
  tx: Tx,
  group: { readonly id: string; readonly firesUntil: number; readonly isTruncated: boolean },
): Promise<void> {
  await tx.change(extendGroup, { ...group, isTruncated: group.isTruncated ? (1 as const) : (0 as const) })
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
  return (await first(queries, findGroup, { id }))?.firesUntil
}

/** Whether there is a group whose alerts have expired before that time. */
export async function hasGroupBefore(queries: Queries, before: number): Promise<boolean> {
  return (await first(queries, findGroupBefore, { before })) !== undefined
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

const readAlerts = pages(
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

/** Newest first, by the time of the first report, unless the page has another order. */
export function listAlerts(reads: Reads, filter: AlertFilter, page: PageRequest<'weight' | 'seq'>) {
  return readAlerts(reads, eachStatus(filter), page)
}

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
