import type { Clock } from '../../../kernel/clock.ts'
import { AppError, type ErrorDetail } from '../../../kernel/errors.ts'
import { MINUTE } from '../../../kernel/time.ts'
import type { Tx } from '../../../store/store.ts'
import { ok, route, type Answer, type Route } from '../../../wire/route.ts'
import { ALERT_REPORTERS } from '../access.ts'
import type { Report } from '../model.ts'
import type { Alerts } from '../service.ts'
import { groupIdOf } from './labels.ts'
import { isFault, parseAlert, parseNotified, type Parsed } from './parse.ts'
import { toReport, type Arrival, type PrometheusAlert } from './report.ts'
import { NotificationBody, PrometheusBody, PrometheusFault } from './schemas.ts'

/** How long an alert that Prometheus sends without an end fires after it was sent last. */
const RESOLVE_TIMEOUT_MS = 5 * MINUTE

/** docs/specification.md, Prometheus and Alertmanager */
export function intakeRoutes(
  alerts: Pick<Alerts, 'report' | 'keepGroup'>,
  { clock, webhookStaleAfterMs }: { readonly clock: Clock; readonly webhookStaleAfterMs: number },
): Route[] {
  const reportAll = async (tx: Tx, reports: readonly Report[], actor: string) => {
    for (const report of reports) await alerts.report(tx, report, actor)
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
      change: async (tx, { identity }, { reports, faults }) => {
        await reportAll(tx, reports, identity.id)
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
        const { reports, faults } = outcomesOf(parsed, arrival)
        if (faults.length > 0) throw invalidAlerts(faults)
        return { reports, arrival }
      },
      change: async (tx, { identity }, { reports, arrival: { now, fireForMs, groupId } }) => {
        if (groupId !== undefined) await alerts.keepGroup(tx, groupId, now + fireForMs)
        await reportAll(tx, reports, identity.id)
        return ok(undefined)
      },
    }),
  ]
}

function outcomesOf(parsed: readonly Parsed[], arrival: Arrival) {
  return {
    reports: inLockOrder(parsed.filter(isAlert).map((alert) => toReport(alert, arrival))),
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
  const details = faults.slice(0, FAULT_LIMIT)
  const message = `${faults[0]?.path} ${faults[0]?.message}.`
  return new AppError('invalid', 'validation_failed', message, { details })
}
