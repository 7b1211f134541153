import { hash } from 'node:crypto'
import { pageOf, type Page, type PageRequest } from '../../kernel/page.ts'
import type { NewRowOf } from '../../store/columns.ts'
import { createdIn } from '../../store/created-in.ts'
import { lockRows } from '../../store/locking.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import {
  weightsOf,
  type Alert,
  type AlertLevel,
  type AlertStatus,
  type Report,
  type Severity,
} from './model.ts'
import { alerts, db, statement } from './tables.ts'

type Row = NewRowOf<typeof alerts>

const ALERT = alerts.except('seq', 'identity')

const insert = statement<Row>((on, value) =>
  on
    .insertInto('alerts')
    .values(alerts.values(value))
    .onConflict((conflict) => conflict.column('identity').doNothing()),
)

const update = statement<Alert>((on, value) =>
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
      ),
    )
    .where('id', '=', value('id')),
)

const findById = statement<{ id: string }, Alert>((on, value) =>
  on.selectFrom('alerts').select(ALERT).where('id', '=', value('id')),
)

const lockBy = (key: 'id' | 'identity') =>
  statement<{ key: string }, Alert>((on, value, capabilities) =>
    on.selectFrom('alerts').select(ALERT).where(key, '=', value('key')).$call(lockRows(capabilities)),
  )

const lockById = lockBy('id')
const lockByIdentity = lockBy('identity')

/**
 * Returns `false` when an alert of that identity exists. The caller can lock it then, because an insertion waits for a
 * concurrent one of the same identity.
 */
export async function insertAlert(tx: Tx, alert: Alert): Promise<boolean> {
  return (await tx.change(insert, { ...alert, identity: identityOf(alert) })) === 1
}

export function findAlert(queries: Queries, id: string): Promise<Alert | undefined> {
  return first(queries, findById, { id })
}

/** Finds an alert by its id and locks it until the end of the transaction. */
export function lockAlert(tx: Tx, id: string): Promise<Alert | undefined> {
  return first(tx, lockById, { key: id })
}

/** Finds the alert of a report and locks it until the end of the transaction. */
export function lockReported(tx: Tx, report: Report): Promise<Alert | undefined> {
  return first(tx, lockByIdentity, { key: identityOf(report) })
}

/** Writes a changed alert; the transaction must have locked it. */
export async function updateAlert(tx: Tx, alert: Alert): Promise<void> {
  await tx.change(update, alert)
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
): Promise<Page<Alert>> {
  let query = db(queries)
    .selectFrom('alerts')
    .select([...ALERT, 'seq'])
    .where('seq', '<', page.before)
  if (status) query = query.where('status', '=', status)
  if (level !== undefined) query = query.where('level', '=', level)
  if (severity) query = query.where('weight', 'in', weightsOf(severity))
  if (source) query = query.where('source', '=', source)
  for (const condition of await createdIn(queries, 'alerts', 'first_at', page)) query = query.where(condition)
  const rows = await query
    .orderBy('seq', 'desc')
    .limit(page.limit + 1)
    .execute()
  return pageOf(rows, page.limit)
}

/**
 * The identity of an alert as one text (docs/specification.md, Alerts). Source, title and address are hashed, so that
 * the index stays small however long they are.
 */
function identityOf({ alarmId, source, title, serverAddr }: Report | Alert): string {
  if (alarmId !== null) return `alarm_id:${alarmId}`
  return `sha256:${hash('sha256', JSON.stringify([source, title, serverAddr]), 'base64url')}`
}
