import type { Clock } from '../../kernel/clock.ts'
import { notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Logger, LogFields } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Store, Tx } from '../../store/store.ts'
import type { PlatformAlert, PlatformAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import { ALERT_EVENTS } from './events.ts'
import {
  ALERT_CHANGES,
  judgeFirst,
  judgeRecovery,
  judgeReport,
  type AlertChange,
  type Cause,
  type Judgement,
} from './judgement.ts'
import { BODY_BYTES, severityOf, TITLE_LENGTH, type Alert, type AlertView, type Report } from './model.ts'
import type { AlertNotifications } from './occasion.ts'
import {
  findAlert,
  insertAlert,
  insertHistory,
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
  readonly events: EventSink<AlertView>
  readonly notifications: AlertNotifications
}

/** The actor of the alerts that the platform itself raises. */
const PLATFORM = 'platform'

/** The alerts, from their first report to their recovery. */
export class Alerts implements PlatformAlerts {
  readonly #deps: AlertDeps
  readonly #reports: Counter
  readonly #changes: Counter

  constructor(deps: AlertDeps) {
    this.#deps = deps
    this.#reports = deps.metrics.counter({
      name: 'alerts_reported_total',
      help: 'Reports of alerts, including repeated ones.',
      labels: ['severity'],
    })
    this.#changes = deps.metrics.counter({
      name: 'alert_changes_total',
      help: 'Changes of alerts. Repeated reports are none.',
      labels: ['change'],
    })
    for (const change of ALERT_CHANGES) this.#changes.increment({ change }, 0)
  }

  /** Records a report: creates the alert, or changes the existing one. */
  async report(tx: Tx, report: Report, actor: string): Promise<{ alert: Alert; outcome: 'new' | 'known' }> {
    const cause = this.#cause(actor)
    const first = judgeFirst(report, newId(), cause)
    for (;;) {
      if (await insertAlert(tx, first.alert)) {
        await this.#record(tx, first, actor)
        return { alert: this.#counted(tx, first.alert), outcome: 'new' }
      }
      // Not there if it was pruned meanwhile; then the insertion succeeds.
      const known = await lockReported(tx, report)
      if (!known) continue
      const alert = await this.#apply(tx, known, judgeReport(known, report, cause), actor)
      return { alert: this.#counted(tx, alert), outcome: 'known' }
    }
  }

  async raise(tx: Tx, alert: PlatformAlert): Promise<void> {
    await this.report(tx, platformReport(alert), PLATFORM)
  }

  /** Rejects with `alert_not_found`. */
  async get(id: string): Promise<AlertView> {
    return requireAlert(await findAlert(this.#deps.store.read, id), id)
  }

  /** Newest first, by the time of the first report. */
  list(filter: AlertFilter, page: PageRequest): Promise<Page<AlertView>> {
    return listAlerts(this.#deps.store.read, filter, page)
  }

  /**
   * Declares an alert recovered, which also ends its freeze. A recovered one is returned unchanged. Rejects with
   * `alert_not_found`.
   */
  async recover(tx: Tx, id: string, actor: string): Promise<Alert> {
    const alert = requireAlert(await lockAlert(tx, id), id)
    return this.#apply(tx, alert, judgeRecovery(alert, this.#cause(actor)), actor)
  }

  #cause(actor: string): Cause {
    return { at: this.#deps.clock.now(), actor }
  }

  #counted(tx: Tx, alert: Alert): Alert {
    tx.afterCommit(() => this.#reports.increment({ severity: severityOf(alert.weight) }))
    return alert
  }

  /** Writes the changes of a locked alert; returns the alert after the last of them. */
  async #apply(tx: Tx, alert: Alert, judgements: readonly Judgement[], actor: string): Promise<Alert> {
    const after = judgements.at(-1)?.alert
    if (!after) return alert
    await updateAlert(tx, after)
    for (const judgement of judgements) await this.#record(tx, judgement, actor)
    return after
  }

  /** Writes all that follows from a change, in its transaction, and its log line after the commit. */
  async #record(tx: Tx, judgement: Judgement, actor: string): Promise<void> {
    const { events, notifications } = this.#deps
    const { alert, entry, occasion } = judgement
    if (entry) await insertHistory(tx, alert.id, entry)
    for (const event of judgement.events)
      await events.append(tx, { type: ALERT_EVENTS[event], subject: alert.id, data: alert })
    if (occasion) await notifications.notify(tx, occasion, alert)
    tx.afterCommit(() => this.#log(judgement, entry?.actor ?? actor))
  }

  #log({ alert, change }: Judgement, actor: string): void {
    const fields = { ...summary(alert), change, actor }
    if (change === 'repeated') return this.#deps.logger.debug(fields, 'alert reported again')
    this.#changes.increment({ change })
    this.#deps.logger.info(fields, MESSAGES[change])
  }
}

/** The log line of each change of an alert. */
const MESSAGES = {
  raised: 'alert raised',
  risen: 'alert raised to a higher weight',
  acknowledged: 'alert acknowledged',
  lapsed: 'the acknowledgement of an alert has lapsed',
  recovered: 'alert recovered',
  frozen: 'alert frozen',
  unfrozen: 'alert unfrozen',
} as const satisfies Record<Exclude<AlertChange, 'repeated'>, string>

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

function requireAlert<T>(alert: T | undefined, id: string): T {
  if (!alert) throw notFound('alert', id)
  return alert
}
