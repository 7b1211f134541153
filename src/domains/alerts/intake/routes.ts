import type { Clock } from '../../../kernel/clock.ts'
import { validationFailed, type AppError } from '../../../kernel/errors.ts'
import type { ErrorDetail } from '../../../kernel/faults.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Metrics } from '../../../kernel/metrics.ts'
import { MINUTE } from '../../../kernel/time.ts'
import type { Tx } from '../../../store/store.ts'
import { ok, route, type Answer, type Route, type RouteRequest } from '../../../wire/route.ts'
import { ALERT_REPORTERS } from '../access.ts'
import type { Report } from '../model.ts'
import type { Alerts } from '../service.ts'
import { clockAlert, EndedArrivals, type EndedArrival } from './ended-arrivals.ts'
import { alarmIdOf, groupIdOf } from './labels.ts'
import { isFault, parseAlert, parseNotified, type Parsed } from './parse.ts'
import { toReport, type Arrival, type PrometheusAlert } from './report.ts'
import { NotificationBody, PrometheusBody, PrometheusFault } from './schemas.ts'

/** How long an alert that Prometheus sends without an end fires after it was sent last. */
const RESOLVE_TIMEOUT_MS = 5 * MINUTE

interface IntakeDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly webhookStaleAfterMs: number
}

/** docs/specification.md, Prometheus and Alertmanager */
export function intakeRoutes(
  alerts: Pick<Alerts, 'report' | 'raise' | 'keepGroup'>,
  { clock, logger, metrics, webhookStaleAfterMs }: IntakeDeps,
): Route[] {
  const endedArrivals = metrics.counter({
    name: 'alerts_ended_on_arrival_total',
    help: 'Alerts of Prometheus or of an Alertmanager that had ended when they arrived, and have never fired here.',
  })
  const truncated = metrics.counter({
    name: 'alertmanager_truncated_alerts_total',
    help: 'Alerts that an Alertmanager has left out of its notifications.',
  })
  for (const counter of [endedArrivals, truncated]) counter.increment({}, 0)
  const senders = new EndedArrivals()
  /** Returns those that had ended when they arrived, and have never fired here. */
  const reportAll = async (tx: Tx, reports: readonly Report[], actor: string) => {
    const ended: string[] = []
    for (const report of reports) {
      const { alert } = await alerts.report(tx, report, actor)
      if (alert.count === 0 && report.alarmId !== null) ended.push(report.alarmId)
    }
    return ended
  }
  const judgeSender = async (
    tx: Tx,
    {
      remoteAddress: address,
      headers,
    }: Pick<RouteRequest<unknown, unknown, unknown>, 'remoteAddress' | 'headers'>,
    ended: readonly string[],
    ends: ReadonlyMap<string, number | undefined>,
  ) => {
    if (ended.length === 0) return
    const arrivals: EndedArrival[] = ended.map((alarmId) => ({ alarmId, endsAt: ends.get(alarmId) }))
    const now = clock.now()
    const { fresh, isAlerted, sender } = senders.judge(address, arrivals, now)
    if (isAlerted) await alerts.raise(tx, clockAlert(address, headers.date, now))
    tx.afterCommit(() => {
      senders.record(address, sender)
      endedArrivals.increment({}, fresh)
    })
  }
  return [
    route({
      method: 'POST',
      path: '/api/v2/alerts',
      operation: 'postPrometheusAlerts',
      tag: 'Alerts',
      summary: 'Take alerts as an Alertmanager does',
      description:
        'For Prometheus, with the platform in the place of an Alertmanager. An alert recovers at its `endsAt`, or ' +
        '5 minutes after it was sent last if it has none. Wrong alerts are refused, the others of the same request are ' +
        'taken.',
      access: ALERT_REPORTERS,
      body: PrometheusBody,
      answers: {
        200: { description: 'All alerts were taken.' },
        400: { description: 'Some alerts were refused, or the whole request.', schema: PrometheusFault },
      },
      prepare: ({ body }) =>
        outcomesOf(
          body.map((each, index) => parseAlert(each, `${index}`)),
          { now: clock.now(), fireForMs: RESOLVE_TIMEOUT_MS },
        ),
      change: async (tx, request, { reports, ends, faults }) => {
        await judgeSender(tx, request, await reportAll(tx, reports, request.identity.id), ends)
        return faults.length === 0 ? ok(undefined) : refusal(faults)
      },
    }),
    route({
      method: 'POST',
      path: '/alerts/alertmanager',
      operation: 'postAlertmanagerNotification',
      tag: 'Alerts',
      summary: 'Take a notification of an Alertmanager',
      description:
        'For the webhook of an Alertmanager (version 4). A firing alert recovers when it is resolved, or when its group ' +
        'was not heard of for `alerts.webhook_stale_after`.',
      access: ALERT_REPORTERS,
      body: NotificationBody,
      answers: { 200: { description: 'All alerts were taken.' } },
      prepare: ({ body }) => {
        const parsed = body.alerts.map((each, index) => parseNotified(each, `alerts.${index}`))
        const arrival = { now: clock.now(), fireForMs: webhookStaleAfterMs, groupId: groupIdOf(body) }
        const { reports, ends, faults } = outcomesOf(parsed, arrival)
        if (faults.length > 0) throw invalidAlerts(faults)
        return { reports, ends, arrival }
      },
      change: async (tx, request, { reports, ends, arrival: { now, fireForMs, groupId } }) => {
        const { identity, body } = request
        const { truncatedAlerts = 0, receiver, groupKey } = body
        if (groupId !== undefined)
          await alerts.keepGroup(tx, { id: groupId, firesUntil: now + fireForMs, truncatedAlerts })
        await judgeSender(tx, request, await reportAll(tx, reports, identity.id), ends)
        tx.afterCommit(() => {
          if (truncatedAlerts === 0) return
          truncated.increment({}, truncatedAlerts)
          logger.warn(
            { receiver, group: groupKey, truncated: truncatedAlerts },
            'a notification is not whole',
          )
        })
        return ok(undefined)
      },
    }),
  ]
}

function outcomesOf(parsed: readonly Parsed[], arrival: Arrival) {
  return {
    reports: inLockOrder(parsed.filter(isAlert).map((alert) => toReport(alert, arrival))),
    ends: new Map(parsed.filter(isAlert).map((alert) => [alarmIdOf(alert.labels), alert.endsAt])),
    faults: parsed.filter(isFault).map(({ fault }) => fault),
  }
}

function isAlert(parsed: Parsed): parsed is PrometheusAlert {
  return !isFault(parsed)
}

/** Requests with the same alerts lock them in the same order, which prevents deadlocks. */
function inLockOrder(reports: readonly Report[]): Report[] {
  return reports.toSorted((one, other) => compareText(one.alarmId ?? '', other.alarmId ?? ''))
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

// More details do not help the sender.
const FAULT_LIMIT = 20

/** The answer of an Alertmanager: a JSON text. The other alerts are committed. */
function refusal(faults: readonly ErrorDetail[]): Answer {
  const texts = faults.slice(0, FAULT_LIMIT).map(({ path, message }) => `${path} ${message}`)
  return { status: 400, body: JSON.stringify(texts.join('; ')), headers: JSON_TYPE }
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

function invalidAlerts(faults: readonly ErrorDetail[]): AppError {
  return validationFailed(faults.slice(0, FAULT_LIMIT))
}
