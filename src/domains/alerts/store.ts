import { hash } from 'node:crypto'
import type { Selectable } from 'kysely'
import { pageOf, type Page, type PageRequest } from '../../kernel/page.ts'
import { statement } from '../../store/statement.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import {
  weightsOf,
  type Alert,
  type AlertLevel,
  type AlertStatus,
  type Report,
  type Severity,
} from './model.ts'
import type { AlertsTable } from './tables.ts'

type Row = Selectable<AlertsTable>

const insert = statement<Omit<Row, 'seq'>>((db, value) =>
  db
    .insertInto('alerts')
    .values({
      id: value('id'),
      identity: value('identity'),
      alarm_id: value('alarm_id'),
      source: value('source'),
      title: value('title'),
      body: value('body'),
      level: value('level'),
      weight: value('weight'),
      server_addr: value('server_addr'),
      status: value('status'),
      count: value('count'),
      first_at: value('first_at'),
      last_at: value('last_at'),
      recovered_at: value('recovered_at'),
    })
    .onConflict((conflict) => conflict.column('identity').doNothing()),
)

const update = statement<Omit<Row, 'seq'>>((db, value) =>
  db
    .updateTable('alerts')
    .set({
      source: value('source'),
      title: value('title'),
      body: value('body'),
      level: value('level'),
      weight: value('weight'),
      server_addr: value('server_addr'),
      status: value('status'),
      count: value('count'),
      last_at: value('last_at'),
      recovered_at: value('recovered_at'),
    })
    .where('id', '=', value('id')),
)

const findBy = (key: 'id' | 'identity') => ({
  plain: statement<{ key: string }, Row>((db, value) =>
    db.selectFrom('alerts').selectAll().where(key, '=', value('key')),
  ),
  locking: statement<{ key: string }, Row>((db, value) =>
    db.selectFrom('alerts').selectAll().where(key, '=', value('key')).forUpdate(),
  ),
})

const findById = findBy('id')
const findByIdentity = findBy('identity')

/**
 * Answers `false` when there is an alert of that identity already; it can be locked then, for a twin of this
 * transaction that is making it is waited for.
 */
export async function insertAlert(tx: Tx, alert: Alert): Promise<boolean> {
  return (await tx.change(insert, toRow(alert))) === 1
}

export async function findAlert(queries: Queries, id: string): Promise<Alert | undefined> {
  const row = await first(queries, findById.plain, { key: id })
  return row && fromRow(row)
}

/** The alert of that id, which nobody else can change before the end of the transaction. */
export function lockAlert(tx: Tx, id: string): Promise<Alert | undefined> {
  return lock(tx, findById, id)
}

/** The alert that a report is about, which nobody else can change before the end of the transaction. */
export function lockReported(tx: Tx, report: Report): Promise<Alert | undefined> {
  return lock(tx, findByIdentity, identityOf(report))
}

/** Writes a changed alert back; it must be locked. */
export async function updateAlert(tx: Tx, alert: Alert): Promise<void> {
  await tx.run(update, toRow(alert))
}

export interface AlertFilter {
  readonly status?: AlertStatus
  readonly level?: AlertLevel
  readonly severity?: Severity
  readonly source?: string
}

/** Newest first, by the time of the first report. */
export async function listAlerts(
  { db }: Queries,
  filter: AlertFilter,
  page: PageRequest,
): Promise<Page<Alert>> {
  const { status, level, severity, source } = filter
  const rows = await db
    .selectFrom('alerts')
    .selectAll()
    .$if(status !== undefined, (query) => query.where('status', '=', status as AlertStatus))
    .$if(level !== undefined, (query) => query.where('level', '=', level as AlertLevel))
    .$if(severity !== undefined, (query) => query.where('weight', 'in', weightsOf(severity as Severity)))
    .$if(source !== undefined, (query) => query.where('source', '=', source as string))
    .where('seq', '<', page.before)
    .orderBy('seq', 'desc')
    .limit(page.limit + 1)
    .execute()
  return pageOf(rows, page.limit, fromRow)
}

async function lock(tx: Tx, find: ReturnType<typeof findBy>, key: string): Promise<Alert | undefined> {
  const row = await first(tx, tx.capabilities.concurrentWriters ? find.locking : find.plain, { key })
  return row && fromRow(row)
}

/**
 * One text for one alert (contract, Alerts). Source, title and address are hashed, so that the index stays small
 * however long they are.
 */
function identityOf({ alarmId, source, title, serverAddr }: Report | Alert): string {
  if (alarmId !== null) return `alarm_id:${alarmId}`
  return `sha256:${hash('sha256', JSON.stringify([source, title, serverAddr]), 'base64url')}`
}

function toRow(alert: Alert): Omit<Row, 'seq'> {
  return {
    id: alert.id,
    identity: identityOf(alert),
    alarm_id: alert.alarmId,
    source: alert.source,
    title: alert.title,
    body: alert.body,
    level: alert.level,
    weight: alert.weight,
    server_addr: alert.serverAddr,
    status: alert.status,
    count: alert.count,
    first_at: alert.firstAt,
    last_at: alert.lastAt,
    recovered_at: alert.recoveredAt,
  }
}

function fromRow(row: Row): Alert {
  return {
    id: row.id,
    alarmId: row.alarm_id,
    source: row.source,
    title: row.title,
    body: row.body,
    level: row.level,
    weight: row.weight,
    serverAddr: row.server_addr,
    status: row.status,
    count: row.count,
    firstAt: row.first_at,
    lastAt: row.last_at,
    recoveredAt: row.recovered_at,
  }
}
