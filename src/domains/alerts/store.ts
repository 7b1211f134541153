import { hash } from 'node:crypto'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { NewRowOf } from '../../store/columns.ts'
import { createdIn } from '../../store/created-in.ts'
import { lockRows } from '../../store/locking.ts'
import { readPage } from '../../store/read-page.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import {
  dueAt,
  weightsOf,
  type Alert,
  type AlertLevel,
  type AlertStatus,
  type AlertView,
  type Report,
  type Severity,
} from './model.ts'
import type { ChangeEntry } from './judgement.ts'
import { alertHistory, alerts, db, statement } from './tables.ts'

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
        'swings',
        'freeze',
        'dueAt',
      ),
    )
    .where('id', '=', value('id')),
)

const findById = statement<{ id: string }, AlertView>((on, value) =>
  on.selectFrom('alerts').select(VIEW).where('id', '=', value('id')),
)

const lockBy = (key: 'id' | 'identity') =>
  statement<{ key: string }, StoredAlert>((on, value, capabilities) =>
    on.selectFrom('alerts').select(ALERT).where(key, '=', value('key')).$call(lockRows(capabilities)),
  )

const lockById = lockBy('id')
const lockByIdentity = lockBy('identity')

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

/** Writes a changed alert; the transaction must have locked it. */
export async function updateAlert(tx: Tx, alert: Alert): Promise<void> {
  await tx.change(update, { ...alert, dueAt: dueAt(alert) })
}

const insertEntry = statement<NewRowOf<typeof alertHistory>>((on, value) =>
  on.insertInto('alert_history').values(alertHistory.values(value)),
)

/** Writes one line of the history; the first report has none, because the row of the alert records it. */
export async function insertHistory(tx: Tx, alertId: string, entry: ChangeEntry): Promise<void> {
  const { from: fromStatus, to: toStatus, at, weight, actor, note } = entry
  await tx.change(insertEntry, { alertId, at, fromStatus, toStatus, weight, actor, note })
}

export interface AlertFilter {
  readonly status?: AlertStatus
  readonly level?: AlertLevel
  readonly severity?: Severity
  readonly source?: string
}

/** Newest first, by the time of the first report. */
export async function listAlerts(
  queries: Queries,
  { status, level, severity, source }: AlertFilter,
  page: PageRequest,
): Promise<Page<AlertView>> {
  let query = db(queries)
    .selectFrom('alerts')
    .select([...VIEW, 'seq'])
  if (status) query = query.where('status', '=', status)
  if (level !== undefined) query = query.where('level', '=', level)
  if (severity) query = query.where('weight', 'in', weightsOf(severity))
  if (source) query = query.where('source', '=', source)
  for (const condition of await createdIn(queries, 'alerts', 'first_at', page)) query = query.where(condition)
  return readPage(query, page)
}

/**
 * The identity of an alert as one text (docs/specification.md, Alerts). Source, title and address are hashed, so that
 * the index stays small however long they are.
 */
function identityOf({ alarmId, source, title, serverAddr }: Report | Alert): string {
  if (alarmId !== null) return `alarm_id:${alarmId}`
  return `sha256:${hash('sha256', JSON.stringify([source, title, serverAddr]), 'base64url')}`
}
