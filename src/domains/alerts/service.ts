import { formatCount } from '../../kernel/text.ts'
import {
  declaredAlarmId,
  FIRING_SEVERITIES,
  type DeclaredAlerts,
  type FiringSeverity,
} from '../../kernel/alerts.ts'
import { invalidTransition, requireFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { LogFields } from '../../kernel/logger.ts'
import type { Counter } from '../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { CLOCK_DIFFERENCE_MS } from '../../kernel/time.ts'
import { readsAside, type Queries, type ServiceDeps, type Tx } from '../../store/store.ts'
import type { PlatformAlert, PlatformRecovery, RecoverableAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import {
  ALERT_EVENTS,
  BODY_BYTES,
  severityOf,
  TITLE_LENGTH,
  weightsOf,
  type Alert,
  type AlertStatus,
  type AlertView,
  type Report,
  inhibitedIdOf,
} from './model.ts'
import { INTAKE_ALERTS } from './intake/alerts.ts'
import {
  ALERT_CHANGES,
  applyAcknowledgement,
  applyFirstReport,
  applyRecovery,
  applyFurtherReport,
  applyTime,
  applyUnfreeze,
  FREEZE_MS,
  withFarTimesDue,
  type ChangeOrigin,
  type HistoryEntry,
  type AlertTransition,
  WORKER,
} from './transitions.ts'
import type { AlertNotifications } from './occasion.ts'
import {
  countAlerts,
  countFiring,
  deleteExpiredGroups,
  deleteRecovered,
  findAlarm,
  findAlert,
  findExpiredGroup,
  findGroupEnd,
  insertAlert,
  insertHistory,
  listAlerts,
  listDueAlerts,
  listFarAlerts,
  listFiring,
  listHistory,
  listTruncated,
  lockAlarm,
  lockAlert,
  lockAlerts,
  lockFree,
  lockReported,
  saveGroup,
  updateAlert,
  type AlertFilter,
} from './store.ts'
import { MATCHED_FIELDS } from './silences/model.ts'
import { sanitizeBody, sanitizeText } from './text.ts'

/** What the alert domain needs of the rest of the platform. */
export interface AlertDeps extends ServiceDeps {
  readonly events: EventSink<AlertView>
  readonly notifications: AlertNotifications
  /** How long an acknowledgement lasts, in milliseconds. */
  readonly acknowledgeForMs: number
  /** The alerts of the platform and of its programs. */
  readonly declared: DeclaredAlerts
}

/** The actor of the alerts that the platform itself raises. */
const PLATFORM = 'platform'
// docs/specification.md, Overview
const FIRING_LIMIT = 10_000
// How many alerts are read together when a silence ends.
const SILENCE_BATCH = 100

/** The alerts, from their first report to their recovery. */
export class Alerts implements RecoverableAlerts {
  readonly #deps: AlertDeps
  readonly #reports: Counter
  readonly #changes: Counter
  /** How far the wall clock was ahead of the monotonic clock when {@link withFarTimesDue} was last applied to all alerts. */
  #aheadMs = Number.POSITIVE_INFINITY

  constructor(deps: AlertDeps) {
    this.#deps = deps
    this.#reports = deps.metrics.counter({
      name: 'alerts_reported_total',
      help: 'Reports of alerts, including repeated ones.',
      labels: ['severity'],
    })
    this.#changes = deps.metrics.counter({
      name: 'alert_changes_total',
      help: 'Changes of alerts, without repeated reports.',
      labels: { change: Object.keys(ALERT_CHANGES) },
    })
  }

  /** Records a report: creates the alert, or changes the existing one. */
  async report(tx: Tx, reported: Report, actor: string): Promise<{ alert: Alert; outcome: 'new' | 'known' }> {
    const origin = this.#origin(actor)
    const report = withRules(reported, this.#deps.declared, origin.at)
    const first = applyFirstReport(report, newId(), origin)
    for (;;) {
      if (await insertAlert(tx, first.alert)) {
        await this.#record(tx, first, actor)
        return { alert: this.#countReport(tx, first.alert), outcome: 'new' }
      }
      // An alert that was pruned meanwhile is not there; then the insertion succeeds.
      const known = await lockReported(tx, report)
      if (!known) continue
      const alert = await this.#apply(tx, known, applyFurtherReport(known, report, origin), actor)
      return { alert: this.#countReport(tx, alert), outcome: 'known' }
    }
  }

  async raise(tx: Tx, alert: PlatformAlert): Promise<void> {
    if (!this.#deps.declared.find(alert.alarmId))
      throw new Error(`The alert ${alert.alarmId} is not declared: no domain has it among its alerts.`)
    await this.report(tx, platformReport(alert), PLATFORM)
  }

  async recoverIfRaised(tx: Tx, alert: PlatformRecovery): Promise<void> {
    const known = await lockAlarm(tx, alert.alarmId)
    if (known && known.weight > 0) await this.raise(tx, { ...alert, severity: 'CLOSE' })
  }

  /** Rejects with `alert_not_found`. */
  async get(id: string, queries: Queries = this.#deps.store.read): Promise<AlertView> {
    return requireFound(await findAlert(queries, id), 'alert', id)
  }

  /** The alert with that `alarm_id`, whatever its status. */
  findByAlarmId(alarmId: string): Promise<AlertView | undefined> {
    return findAlarm(this.#deps.store.read, alarmId)
  }

  /** How many alerts of each severity fire, counted up to 10,000 for each weight. */
  async countFiring(): Promise<Readonly<Record<FiringSeverity, number>>> {
    const counts = { CRITICAL: 0, HIGH: 0, ERROR: 0, WARNING: 0, INFO: 0 }
    for (const severity of FIRING_SEVERITIES)
      for (const weight of weightsOf(severity))
        counts[severity] += (await countFiring(this.#deps.store.read, weight, FIRING_LIMIT)) ?? 0
    return counts
  }

  /** Newest first, by the time of the first report. */
  list(filter: AlertFilter, page: PageRequest<'weight' | 'seq'>): Promise<Page<AlertView>> {
    const { store } = this.#deps
    return listAlerts(filter.text === undefined ? store.read : readsAside(store), filter, page)
  }

  /**
   * Declares an alert recovered, which also ends its freeze. A recovered one is returned unchanged. Rejects with
   * `alert_not_found`.
   */
  async recover(tx: Tx, id: string, actor: string): Promise<Alert> {
    const alert = requireFound(await lockAlert(tx, id), 'alert', id)
    return this.#apply(tx, alert, applyRecovery(alert, this.#origin(actor)), actor)
  }

  /**
   * Acknowledges a firing alert; one that is acknowledged stays as it is. Rejects with `alert_not_found`, and with
   * `invalid_transition` when it is recovered or frozen.
   */
  async acknowledge(tx: Tx, id: string, comment: string | null, actor: string): Promise<Alert> {
    const origin = this.#origin(actor)
    const alert = requireFound(await lockAlert(tx, id), 'alert', id)
    const until = origin.at + this.#deps.acknowledgeForMs
    const after = await this.#apply(tx, alert, applyAcknowledgement(alert, until, comment, origin), actor)
    if (after !== alert && after.status === 'acknowledged')
      await this.#deps.notifications.acknowledged(tx, after)
    if (after.status === 'acknowledged') return after
    const message = `A ${after.status} alert cannot be acknowledged; only a firing one can.`
    throw invalidTransition(message, after.status, [])
  }

  /**
   * Ends the freeze of an alert, which then has the state of its last report. Rejects with `alert_not_found`, and with
   * `invalid_transition` when it is not frozen.
   */
  async unfreeze(tx: Tx, id: string, actor: string): Promise<Alert> {
    const alert = requireFound(await lockAlert(tx, id), 'alert', id)
    if (alert.status !== 'frozen') {
      const message = `The alert is ${alert.status}; only a frozen one can be unfrozen.`
      throw invalidTransition(message, alert.status, [])
    }
    return this.#apply(tx, alert, applyUnfreeze(alert, this.#origin(actor)), actor)
  }

  /** The changes of an alert, oldest first. Rejects with `alert_not_found`. */
  async history(id: string, page: PageRequest): Promise<Page<HistoryEntry>> {
    return requireFound(await listHistory(this.#deps.store.read, id, page), 'alert', id)
  }

  /** Changes one batch of alerts whose time has come; returns how many were due and how many it has changed. */
  async changeDue(limit: number): Promise<{ due: number; changed: number }> {
    const { acknowledgeForMs, clock, store } = this.#deps
    // The read is outside the write queue: a run without due alerts writes nothing.
    const due = [...(await listDueAlerts(store.read, clock.now(), limit)), ...(await this.#listFar(limit))]
    if (due.length === 0) return { due: 0, changed: 0 }
    return store.write(async (tx) => {
      let changed = 0
      for (const locked of await lockFree(tx, due)) {
        const alert = await this.#withGroupEnd(tx, locked)
        const transitions = applyTime(withFarTimesDue(alert, clock.now(), acknowledgeForMs), clock.now())
        await this.#apply(tx, alert, transitions, WORKER)
        if (transitions.length > 0 || alert !== locked) changed++
      }
      return { due: due.length, changed }
    })
  }

  /** The alerts whose times a former clock has put too far away: read at the start, and when the clock was set back. */
  async #listFar(limit: number): Promise<string[]> {
    const { acknowledgeForMs, clock, store } = this.#deps
    const aheadMs = clock.now() - clock.monotonic()
    if (aheadMs > this.#aheadMs - CLOCK_DIFFERENCE_MS) {
      this.#aheadMs = Math.max(aheadMs, this.#aheadMs)
      return []
    }
    const now = clock.now() + CLOCK_DIFFERENCE_MS
    const times = { now, acknowledgedUntil: now + acknowledgeForMs, frozenUntil: now + FREEZE_MS }
    const far = await listFarAlerts(store.read, times, limit)
    if (far.length < limit) this.#aheadMs = aheadMs
    return far
  }

  /** Decides again about the notifications of the firing alerts that an ended silence has matched. */
  async endSilence(isMatched: (alert: AlertView) => boolean, signal: AbortSignal): Promise<void> {
    const { store } = this.#deps
    for (let after: number | undefined = 0; after !== undefined && !signal.aborted;) {
      const alerts: (AlertView & { seq: number })[] = await listFiring(store.read, after, SILENCE_BATCH)
      const matched = alerts.filter(isMatched)
      if (matched.length > 0) await store.write((tx) => this.#endSilence(tx, matched))
      after = alerts.length === SILENCE_BATCH ? alerts.at(-1)?.seq : undefined
    }
  }

  /** An Alertmanager has told of a group: until then its alerts do not expire. */
  async keepGroup(tx: Tx, id: string, firesUntil: number, truncatedAlerts: number): Promise<void> {
    const isTruncated = truncatedAlerts > 0
    const before = isTruncated ? [] : await listTruncated(tx)
    await saveGroup(tx, { id, firesUntil, isTruncated })
    if (isTruncated) await this.raise(tx, truncationAlert(truncatedAlerts))
    else if (before.length === 1 && before[0] === id) await this.recoverIfRaised(tx, WHOLE_AGAIN)
  }

  /** Forgets the groups whose alerts have expired. */
  async pruneGroups(): Promise<void> {
    const { clock, store } = this.#deps
    const before = clock.now()
    // Read outside of the write queue, because most runs have nothing to remove.
    if (!(await findExpiredGroup(store.read, before))) return
    await store.write(async (tx) => {
      await deleteExpiredGroups(tx, before)
      if ((await listTruncated(tx)).length === 0) await this.recoverIfRaised(tx, WHOLE_AGAIN)
    })
  }

  /** Removes one batch of alerts that have recovered before that time; returns how many. */
  prune(before: number, limit: number): Promise<number> {
    return this.#deps.store.write((tx) => deleteRecovered(tx, before, limit))
  }

  /** How many alerts there are of each status. Takes long where there are many. */
  countByStatus(): Promise<{ status: AlertStatus; alerts: number }[]> {
    const { store } = this.#deps
    return store.readAside(countAlerts(store.read))
  }

  /** The alert with a later expiry if its group was heard of since its last report. */
  async #withGroupEnd(tx: Tx, alert: Alert): Promise<Alert> {
    const { expiresAt, groupId } = alert
    if (expiresAt === null || groupId === null) return alert
    const firesUntil = await findGroupEnd(tx, groupId)
    if (firesUntil === undefined || firesUntil <= expiresAt) return alert
    const extended = { ...alert, expiresAt: firesUntil }
    await updateAlert(tx, extended)
    return extended
  }

  async #endSilence(tx: Tx, matched: readonly AlertView[]): Promise<void> {
    const ids = matched.map(({ id }) => id)
    for (const alert of await lockAlerts(tx, ids))
      if (alert.status === 'firing')
        await this.#deps.notifications.notify(tx, { kind: 'silence_ended' }, alert)
  }

  /** Decides again about the notification of the alert that another one has inhibited, with the source that it had. */
  async #endInhibition(tx: Tx, inhibitor: Alert): Promise<void> {
    const alarmId = inhibitedIdOf(inhibitor)
    const alert = alarmId === undefined ? undefined : await lockAlarm(tx, alarmId)
    if (alert && alert.source === inhibitor.source && alert.weight > 0)
      await this.#deps.notifications.notify(tx, { kind: 'inhibition_ended' }, alert)
  }

  #origin(actor: string): ChangeOrigin {
    return { at: this.#deps.clock.now(), actor }
  }

  #countReport(tx: Tx, alert: Alert): Alert {
    tx.afterCommit(() => this.#reports.increment({ severity: severityOf(alert.weight) }))
    return alert
  }

  /** Writes the changes of a locked alert; returns the alert after the last of them. */
  async #apply(tx: Tx, alert: Alert, unversioned: readonly AlertTransition[], actor: string): Promise<Alert> {
    const transitions = withVersions(unversioned, alert.version)
    const after = transitions.at(-1)?.alert
    if (!after) return alert
    await updateAlert(tx, after)
    for (const transition of transitions) await this.#record(tx, transition, actor)
    if (alert.weight > 0 && (after.weight === 0 || after.source !== alert.source))
      await this.#endInhibition(tx, alert)
    if (after.status === 'firing' && MATCHED.some((field) => after[field] !== alert[field]))
      await this.#deps.notifications.review(tx, alert, after)
    return after
  }

  /** Writes the history, events and notification of a change in its transaction, and its log line after the commit. */
  async #record(tx: Tx, transition: AlertTransition, actor: string): Promise<void> {
    const { events, notifications } = this.#deps
    const { alert, entry, occasion } = transition
    if (entry) await insertHistory(tx, alert.id, entry)
    for (const event of transition.events)
      await events.append(tx, { type: ALERT_EVENTS[event], subject: alert.id, data: alert })
    if (occasion) await notifications.notify(tx, occasion, alert)
    tx.afterCommit(() => this.#log(transition, entry?.actor ?? actor))
  }

  #log({ alert, change, occasion }: AlertTransition, actor: string): void {
    const fields = { ...summary(alert), change, actor }
    if (change === 'repeated') {
      const isReported = occasion?.kind !== 'repeated'
      return this.#deps.logger.debug(fields, isReported ? 'alert reported again' : 'alert to be told again')
    }
    this.#changes.increment({ change })
    this.#deps.logger.info(fields, ALERT_CHANGES[change].message)
  }
}

/** Each change has a version of its own, after that of the alert before. */
function withVersions(transitions: readonly AlertTransition[], before: number): AlertTransition[] {
  return transitions.map((transition, index) => ({
    ...transition,
    alert: { ...transition.alert, version: before + 1 + index },
  }))
}

/** What silences match: also the weight, as the label `severity`. */
const MATCHED = [...MATCHED_FIELDS, 'labels', 'weight'] as const

const TRUNCATED = {
  alarmId: declaredAlarmId(INTAKE_ALERTS, 'alertmanager.truncated'),
  source: 'platform.alerts',
} as const

const WHOLE_AGAIN: PlatformRecovery = {
  ...TRUNCATED,
  title: 'The notifications of the Alertmanagers are whole',
  body: 'The last notification of each group was whole, or the group is not heard of any more.',
}

function truncationAlert(alerts: number): PlatformAlert {
  return {
    ...TRUNCATED,
    title: 'An Alertmanager leaves alerts out of its notifications',
    body: `The last notification left out ${formatCount(alerts, 'alert')} (max_alerts of its webhook): the platform does not know them.`,
    severity: 'WARNING',
  }
}

function summary({ id, alarmId, source, weight, status, count }: Alert): LogFields {
  return { alert_id: id, alarm_id: alarmId, source, severity: severityOf(weight), status, count }
}

/** The report with the end and the repetitions that its alert is declared with. */
function withRules(report: Report, declared: DeclaredAlerts, at: number): Report {
  const { endsAfterMs, repeatEveryMs } = (report.alarmId !== null && declared.find(report.alarmId)) || {}
  return {
    ...report,
    ...(endsAfterMs !== undefined && { expiresAt: at + endsAfterMs }),
    ...(repeatEveryMs !== undefined && { repeatEveryMs }),
  }
}

function platformReport({ alarmId, source, title, body, severity, serverAddr }: PlatformAlert): Report {
  return {
    alarmId,
    source,
    title: sanitizeText(title, TITLE_LENGTH),
    body: sanitizeBody(body, BODY_BYTES),
    serverAddr: serverAddr ?? null,
    level: severity,
  }
}
