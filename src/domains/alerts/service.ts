import type { Clock } from '../../kernel/clock.ts'
import { AppError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Logger, LogFields } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Store, Tx } from '../../store/store.ts'
import { ALERT_EVENTS, type AlertEvent } from './events.ts'
import {
  changeOf,
  firstReported,
  recovered,
  reported,
  severityOf,
  type Alert,
  type AlertChange,
  type Report,
  type Severity,
} from './model.ts'
import { BODY_BYTES, TITLE_LENGTH, toAlertWire } from './schemas.ts'
import {
  findAlert,
  insertAlert,
  listAlerts,
  lockAlert,
  lockReported,
  updateAlert,
  type AlertFilter,
} from './store.ts'
import { presentable } from './text.ts'

/** What the alert domain needs of the rest of the platform. */
export interface AlertDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** Writes an event in the caller's transaction; it goes out after the commit. */
  readonly events: { append(tx: Tx, event: AlertEvent): Promise<void> }
}

/** An alert that the platform itself raises; severity `CLOSE` recovers it. */
export interface PlatformAlert {
  /** Its identity: at most 128 characters, and none that a client chose freely. */
  readonly alarmId: string
  readonly source: string
  /** Title and body may quote a client: what no alert may carry is taken out, what is too long is cut. */
  readonly title: string
  readonly body: string
  readonly severity: Severity
  readonly serverAddr?: string
}

export interface Alerts {
  /** Takes a report of a new alert, or of one that is known. */
  report(report: Report): Promise<{ alert: Alert; outcome: 'new' | 'known' }>
  /** Raises an alert of the platform's own in the caller's transaction. */
  raise(tx: Tx, alert: PlatformAlert): Promise<void>
  /** Rejects with `alert_not_found`. */
  get(id: string): Promise<Alert>
  /** Newest first, by the time of the first report. */
  list(filter: AlertFilter, page: PageRequest): Promise<Page<Alert>>
  /** Declares an alert recovered; one that is already stays as it is, and tells nobody. Rejects with `alert_not_found`. */
  recover(id: string, actor: string): Promise<Alert>
}

export function createAlertService(deps: AlertDeps): Alerts {
  const { store, clock, events } = deps
  const tell = createTelling(deps.logger)
  const reports = deps.metrics.counter({
    name: 'alerts_reported_total',
    help: 'Reports of alerts, the repeated ones included.',
    labels: ['severity'],
  })

  /** What has changed goes to the bus in the same transaction, and into the log after it. */
  const announce = async (
    tx: Tx,
    before: Alert | undefined,
    after: Alert,
    by: LogFields = {},
  ): Promise<void> => {
    const change = changeOf(before, after)
    if (change !== 'repeated') await events.append(tx, eventOf(change, after))
    tx.afterCommit(() => tell[change](after, by))
  }

  const take = async (tx: Tx, report: Report): Promise<{ alert: Alert; outcome: 'new' | 'known' }> => {
    const fresh = firstReported(report, newId(), clock.now())
    const known = (await insertAlert(tx, fresh)) ? undefined : existing(await lockReported(tx, report))
    const alert = known ? reported(known, report, clock.now()) : fresh
    if (known) await updateAlert(tx, alert)
    await announce(tx, known, alert)
    tx.afterCommit(() => reports.increment({ severity: severityOf(alert.weight) }))
    return { alert, outcome: known ? 'known' : 'new' }
  }

  return {
    report: (report) => store.write((tx) => take(tx, report)),

    async raise(tx, alert) {
      await take(tx, platformReport(alert))
    },

    async get(id) {
      return found(await findAlert(store.read, id), id)
    },

    list: (filter, page) => listAlerts(store.read, filter, page),

    recover: (id, actor) =>
      store.write(async (tx) => {
        const alert = found(await lockAlert(tx, id), id)
        if (alert.status === 'recovered') return alert
        const next = recovered(alert, clock.now())
        await updateAlert(tx, next)
        await announce(tx, alert, next, { actor })
        return next
      }),
  }
}

/** One line for each thing that can happen to an alert. */
function createTelling(logger: Logger): Record<AlertChange, (alert: Alert, by: LogFields) => void> {
  return {
    raised: (alert, by) => logger.info({ ...summary(alert), ...by }, 'alert raised'),
    recovered: (alert, by) => logger.info({ ...summary(alert), ...by }, 'alert recovered'),
    repeated: (alert, by) => logger.debug({ ...summary(alert), ...by }, 'alert reported again'),
  }
}

function summary({ id, alarmId, source, weight, status, count }: Alert): LogFields {
  return { alert_id: id, alarm_id: alarmId, source, severity: severityOf(weight), status, count }
}

function eventOf(change: keyof typeof ALERT_EVENTS, alert: Alert): AlertEvent {
  return { type: ALERT_EVENTS[change], subject: alert.id, data: toAlertWire(alert) }
}

function platformReport({ alarmId, source, title, body, severity, serverAddr }: PlatformAlert): Report {
  return {
    alarmId,
    source,
    title: presentable(title, TITLE_LENGTH),
    body: presentable(body, BODY_BYTES),
    serverAddr: serverAddr ?? null,
    level: severity,
  }
}

function found(alert: Alert | undefined, id: string): Alert {
  if (!alert) throw notFound('alert', id)
  return alert
}

/** Alerts are never deleted, so one that was in the way of an insertion is there. */
function existing(alert: Alert | undefined): Alert {
  if (!alert) throw new AppError('internal', 'internal', 'An alert vanished while it was being reported.')
  return alert
}
