import { Type } from 'typebox'
import { declaredAlarmId } from '../../../kernel/alerts.ts'
import { validationFailed, type ErrorDetail } from '../../../kernel/errors.ts'
import { MINUTE, HOUR, SECOND, toRfc3339 } from '../../../kernel/time.ts'
import type { PlatformAlert } from '../../../ports/alerts.ts'
import type { ServiceDeps, Tx } from '../../../store/store.ts'
import { ok, type Answer, type Route, type RouteRequest, routeOf } from '../../../wire/route.ts'
import { ErrorBody, OneOf } from '../../../wire/schemas.ts'
import { ALERT_REPORTERS, type Report } from '../model.ts'
import type { Alerts } from '../service.ts'
import { INTAKE_ALERTS } from './alerts.ts'
import { alarmIdOf, groupIdOf } from './labels.ts'
import { isFault, parseAlert, parseNotified, type ParsedAlert } from './parse.ts'
import { toReport, type Arrival, type PrometheusAlert } from './report.ts'

const route = routeOf('Alerts')

/** How long an alert that Prometheus sends without an end fires after it was sent last. */
const RESOLVE_TIMEOUT_MS = 5 * MINUTE

interface IntakeDeps extends Omit<ServiceDeps, 'store'> {
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
    { remoteAddress, headers }: Pick<RouteRequest<unknown, unknown, unknown>, 'remoteAddress' | 'headers'>,
    ended: readonly string[],
    ends: ReadonlyMap<string, number | undefined>,
  ) => {
    if (ended.length === 0) return
    const arrivals: EndedArrival[] = ended.map((alarmId) => ({ alarmId, endsAt: ends.get(alarmId) }))
    const now = clock.now()
    const { fresh, isAlerted, sender } = senders.judge(remoteAddress, arrivals, now)
    if (isAlerted) await alerts.raise(tx, clockAlert(remoteAddress, headers.date, now))
    tx.afterCommit(() => {
      senders.record(remoteAddress, sender)
      endedArrivals.increment({}, fresh)
    })
  }
  return [
    route({
      method: 'POST',
      path: '/api/v2/alerts',
      operation: 'postPrometheusAlerts',
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
        return faults.length === 0 ? ok(undefined) : refusalAnswer(faults)
      },
    }),
    route({
      method: 'POST',
      path: '/alerts/alertmanager',
      operation: 'postAlertmanagerNotification',
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
        if (faults.length > 0) throw validationFailed(faults.slice(0, FAULT_LIMIT))
        return { reports, ends, arrival }
      },
      change: async (tx, request, { reports, ends, arrival: { now, fireForMs, groupId } }) => {
        const { identity, body } = request
        const { truncatedAlerts = 0, receiver, groupKey } = body
        if (groupId !== undefined) await alerts.keepGroup(tx, groupId, now + fireForMs, truncatedAlerts)
        await judgeSender(tx, request, await reportAll(tx, reports, identity.id), ends)
        tx.afterCommit(() => {
          if (truncatedAlerts === 0) return
          truncated.increment({}, truncatedAlerts)
          const fields = { receiver, group: groupKey, truncated: truncatedAlerts }
          logger.warn(fields, 'a notification is not whole')
        })
        return ok(undefined)
      },
    }),
  ]
}

function outcomesOf(parsed: readonly ParsedAlert[], arrival: Arrival) {
  return {
    reports: inLockOrder(parsed.filter(isAlert).map((alert) => toReport(alert, arrival))),
    ends: new Map(parsed.filter(isAlert).map((alert) => [alarmIdOf(alert.labels), alert.endsAt])),
    faults: parsed.filter(isFault).map(({ fault }) => fault),
  }
}

function isAlert(parsed: ParsedAlert): parsed is PrometheusAlert {
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
function refusalAnswer(faults: readonly ErrorDetail[]): Answer {
  const texts = faults.slice(0, FAULT_LIMIT).map(({ path, message }) => `${path} ${message}`)
  return { status: 400, body: JSON.stringify(texts.join('; ')), headers: JSON_TYPE }
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

/** An alert that had ended when it arrived, and that has never fired here. */
interface EndedArrival {
  readonly alarmId: string
  readonly endsAt: number | undefined
}

interface Sender {
  /** The last arrivals, oldest first. */
  readonly arrivals: readonly { readonly key: string; readonly at: number }[]
  readonly alertedUntil: number
}

// docs/specification.md, Prometheus and Alertmanager
const WINDOW_MS = 10 * MINUTE
const ALLOWED = 2
const MAX_SENDERS = 1_000
const MAX_ARRIVALS = 100

/**
 * Counts, for each sender, the alerts that have already ended when they arrive. Prometheus repeats an ended alert for 15
 * minutes with the same end; a sender whose clock is slow moves the end on each time.
 */
class EndedArrivals {
  #senders: ReadonlyMap<string, Sender> = new Map()

  /** How many of the arrivals are new, and the state after them, which {@link record} keeps. */
  judge(address: string, arrivals: readonly EndedArrival[], now: number) {
    const { arrivals: earlier, alertedUntil } = this.#senders.get(address) ?? NOBODY
    const recent = earlier.filter(({ at }) => now - at < WINDOW_MS)
    const known = new Set(recent.map(({ key }) => key))
    const fresh = [...new Set(arrivals.map(keyOf))].filter((key) => !known.has(key))
    const after = [...recent, ...fresh.map((key) => ({ key, at: now }))].slice(-MAX_ARRIVALS)
    const isAlerted = fresh.length > 0 && (after.length > ALLOWED || now < alertedUntil)
    const sender = { arrivals: after, alertedUntil: isAlerted ? now + HOUR : alertedUntil }
    return { fresh: fresh.length, isAlerted, sender }
  }

  record(address: string, sender: Sender): void {
    const others = [...this.#senders].filter(([each]) => each !== address)
    this.#senders = new Map([...others, [address, sender] as const].slice(-MAX_SENDERS))
  }
}

const NOBODY: Sender = { arrivals: [], alertedUntil: 0 }

const keyOf = ({ alarmId, endsAt }: EndedArrival): string => `${alarmId} ${endsAt}`

/** The alert about the clock of a sender; `date` is its `Date` header. */
function clockAlert(address: string, date: string | undefined, now: number): PlatformAlert {
  return {
    alarmId: declaredAlarmId(INTAKE_ALERTS, 'alertmanager.clock:*', address),
    source: 'platform.alerts',
    title: `Alerts of ${address} have ended before they arrive`,
    body: `Three alerts within ten minutes had ended before they arrived, and none of them fires here. ${differenceText(date, now)}`,
    severity: 'WARNING',
  }
}

function differenceText(date: string | undefined, now: number): string {
  const sentAt = date === undefined ? NaN : Date.parse(date)
  if (Number.isNaN(sentAt)) return 'Compare the clocks of the two hosts.'
  const seconds = Math.round((sentAt - now) / SECOND)
  const difference = `${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} that of the platform`
  return `By the Date header (${toRfc3339(sentAt)}) the clock of the sender is ${difference}.`
}

// A larger request would hold the database for too long. Prometheus sends at most 256 alerts in one request.
const ALERT_LIMIT = 1_000

// The alerts have no schema here: the server refuses a request as a whole, and one wrong alert must not refuse the others.
const AlertReports = {
  type: 'array',
  items: {},
  maxItems: ALERT_LIMIT,
  description:
    'Each has `labels` (texts by name, at least one with a value), and optionally `annotations` (texts by name), ' +
    '`startsAt` and `endsAt` (RFC 3339). Unknown keys are ignored.',
}

const LABELS = { alertname: 'DiskFull', instance: '192.0.2.10:9100', severity: 'critical' }

/** The body that Prometheus sends to an Alertmanager. */
const PrometheusBody = Type.Unsafe<readonly unknown[]>({
  ...AlertReports,
  examples: [[{ labels: LABELS, annotations: { summary: 'The disk is full' } }]],
})

/** The body that an Alertmanager sends to a webhook. */
const NotificationBody = Type.Object(
  {
    version: Type.Optional(OneOf(['4'], 'Of the format.')),
    receiver: Type.Optional(Type.String({ description: 'With `groupKey` and `externalURL`: the group.' })),
    groupKey: Type.Optional(Type.String({ description: 'While the group is heard of, its alerts fire.' })),
    truncatedAlerts: Type.Optional(
      Type.Integer({ minimum: 0, description: 'How many alerts of the group were left out.' }),
    ),
    externalURL: Type.Optional(Type.String({ description: 'The address of the Alertmanager.' })),
    alerts: Type.Unsafe<readonly unknown[]>({
      ...AlertReports,
      examples: [[{ status: 'firing', labels: LABELS }]],
    }),
  },
  { description: 'The JSON of a webhook of version 4. Unknown keys are ignored.' },
)

/** An Alertmanager answers with a text if some of the alerts are wrong. */
const PrometheusFault = Type.Unsafe<unknown>({
  anyOf: [
    ErrorBody,
    { type: 'string', description: 'What is wrong with some alerts; the others were taken.' },
  ],
})
