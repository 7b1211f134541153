import type { Clock } from '../../kernel/clock.ts'
import { AppError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Logger, LogFields } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Store, Tx } from '../../store/store.ts'
import type { PlatformAlert, PlatformAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import { ALERT_EVENTS } from './events.ts'
import {
  applyReport,
  BODY_BYTES,
  changeOf,
  newAlert,
  recover,
  severityOf,
  TITLE_LENGTH,
  type Alert,
  type AlertChange,
  type Report,
} from './model.ts'
import {
  findAlert,
  insertAlert,
  listAlerts,
  lockAlert,
  lockReported,
  updateAlert,
  type AlertFilter,
} from './store.ts'
import { sanitizeText } from './text.ts'

/** What the alert domain needs of the rest of the platform. */
export interface AlertDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly events: EventSink<Alert>
}

/** The alerts, from their first report to their recovery. */
export class Alerts implements PlatformAlerts {
  readonly #deps: AlertDeps
  readonly #reports: Counter
  readonly #log: Record<AlertChange, (alert: Alert, by: LogFields) => void>

  constructor(deps: AlertDeps) {
    this.#deps = deps
    this.#log = createChangeLog(deps.logger)
    this.#reports = deps.metrics.counter({
      name: 'alerts_reported_total',
      help: 'Reports of alerts, including repeated ones.',
      labels: ['severity'],
    })
  }

  /** Records a report: creates the alert, or updates the existing one. */
  async report(tx: Tx, report: Report): Promise<{ alert: Alert; outcome: 'new' | 'known' }> {
    const { clock } = this.#deps
    const fresh = newAlert(report, newId(), clock.now())
    const known = (await insertAlert(tx, fresh))
      ? undefined
      : requireConflicting(await lockReported(tx, report))
    const alert = known ? applyReport(known, report, clock.now()) : fresh
    if (known) await updateAlert(tx, alert)
    await this.#announce(tx, known, alert)
    tx.afterCommit(() => this.#reports.increment({ severity: severityOf(alert.weight) }))
    return { alert, outcome: known ? 'known' : 'new' }
  }

  async raise(tx: Tx, alert: PlatformAlert): Promise<void> {
    await this.report(tx, platformReport(alert))
  }

  /** Rejects with `alert_not_found`. */
  async get(id: string): Promise<Alert> {
    return requireAlert(await findAlert(this.#deps.store.read, id), id)
  }

  /** Newest first, by the time of the first report. */
  list(filter: AlertFilter, page: PageRequest): Promise<Page<Alert>> {
    return listAlerts(this.#deps.store.read, filter, page)
  }

  /** Declares an alert recovered. A recovered one is returned unchanged. Rejects with `alert_not_found`. */
  async recover(tx: Tx, id: string, actor: string): Promise<Alert> {
    const alert = requireAlert(await lockAlert(tx, id), id)
    if (alert.status === 'recovered') return alert
    const next = recover(alert, this.#deps.clock.now())
    await updateAlert(tx, next)
    await this.#announce(tx, alert, next, { actor })
    return next
  }

  /** Writes the event of a change in its transaction, and its log line after the commit. */
  async #announce(tx: Tx, before: Alert | undefined, after: Alert, by: LogFields = {}): Promise<void> {
    const change = changeOf(before, after)
    if (change !== 'repeated')
      await this.#deps.events.append(tx, { type: ALERT_EVENTS[change], subject: after.id, data: after })
    tx.afterCommit(() => this.#log[change](after, by))
  }
}

/** The log line of each change of an alert. */
function createChangeLog(logger: Logger): Record<AlertChange, (alert: Alert, by: LogFields) => void> {
  return {
    raised: (alert, by) => logger.info({ ...summary(alert), ...by }, 'alert raised'),
    recovered: (alert, by) => logger.info({ ...summary(alert), ...by }, 'alert recovered'),
    repeated: (alert, by) => logger.debug({ ...summary(alert), ...by }, 'alert reported again'),
  }
}

function summary({ id, alarmId, source, weight, status, count }: Alert): LogFields {
  return { alert_id: id, alarm_id: alarmId, source, severity: severityOf(weight), status, count }
}

function platformReport({ alarmId, source, title, body, severity, serverAddr }: PlatformAlert): Report {
  return {
    alarmId,
    source,
    title: sanitizeText(title, TITLE_LENGTH),
    body: sanitizeText(body, BODY_BYTES),
    serverAddr: serverAddr ?? null,
    level: severity,
  }
}

function requireAlert(alert: Alert | undefined, id: string): Alert {
  if (!alert) throw notFound('alert', id)
  return alert
}

/** Alerts are never deleted, so the alert that conflicted with the insertion still exists. */
function requireConflicting(alert: Alert | undefined): Alert {
  if (!alert) throw new AppError('internal', 'internal', 'The alert was deleted while it was being reported.')
  return alert
}
