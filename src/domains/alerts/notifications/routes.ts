import { Type, type Static } from 'typebox'
import { JsonText } from '../../../kernel/text.ts'
import { SECOND, WEEKDAYS } from '../../../kernel/time.ts'
import type { ServiceDeps } from '../../../store/store.ts'
import { bodyWriter, encoderOf } from '../../../wire/codec.ts'
import { encodePage, PageOf, PageQuery, parsePage, TimedPageQuery } from '../../../wire/page.ts'
import { ok, routeOf, type Route } from '../../../wire/route.ts'
import {
  Fields,
  IdParams,
  CauseOf,
  Id,
  Nullable,
  NullableTimestamp,
  OneOf,
  Text,
  Timestamp,
} from '../../../wire/schemas.ts'
import { ALERT_ERRORS } from '../routes.ts'
import { ALERT_OPERATORS, ALERT_READERS, SEVERITIES, severityOf, TITLE_LENGTH, weightOf } from '../model.ts'
import { DAMPING_OCCASIONS, FREEZE_OCCASIONS, PLAIN_OCCASIONS } from '../occasion.ts'
import type { Alerts } from '../service.ts'
import {
  explainAlert,
  explainReport,
  readSuppression,
  ROUTE_REASONS,
  type RouteExplanation,
} from './explain.ts'
import { DECISION_CAUSES, OUTCOMES } from './model.ts'
import { BY_NAME, type Receivers } from './receivers.ts'
import type { AlertRoute, Routing } from './routing.ts'
import { listDecisions } from './store.ts'

const route = routeOf('Alerts')

const { alert_not_found, receiver_not_found } = ALERT_ERRORS

interface NotificationRouteDeps extends Pick<ServiceDeps, 'store' | 'clock'> {
  readonly alerts: Alerts
  readonly receivers: Receivers
  readonly routing: Routing
}

/** docs/specification.md, Alert notifications */
export function notificationRoutes(deps: NotificationRouteDeps): Route[] {
  const { alerts, clock, routing, store } = deps
  return [
    ...receiverRoutes(deps.receivers),
    ...routingRoutes(deps),
    route({
      method: 'GET',
      path: '/alerts/:id/route',
      operation: 'getAlertRoute',
      summary: 'The routes of an alert, and whom they notify when',
      access: ALERT_READERS,
      params: IdParams,
      answers: { 200: { description: 'The routes and the receivers.', schema: AlertRouteSchema } },
      errors: { alert_not_found },
      read: async ({ params }) => {
        const alert = await alerts.get(params.id)
        return ok(routeText(await explainAlert(store.read, alert, routing, clock.now())))
      },
    }),
    route({
      method: 'GET',
      path: '/alerts/:id/decisions',
      operation: 'listAlertDecisions',
      summary: 'List the decisions on the notifications of an alert, newest first',
      description:
        'Each occasion, such as a rise or a recovery, has one decision. Repeated reports have none.',
      access: ALERT_READERS,
      params: IdParams,
      query: Fields(TimedPageQuery),
      answers: { 200: { description: 'A page of decisions.', schema: PageOf(DecisionSchema) } },
      errors: { alert_not_found },
      read: async ({ params, query }) => {
        const page = parsePage(query)
        const { id: alertId } = await alerts.get(params.id)
        return ok(encodePage(await listDecisions(store.read, { alertId }, page), encodeDecision))
      },
    }),
  ]
}

function routingRoutes({ clock, routing, store }: NotificationRouteDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/alerts/routes',
      operation: 'getAlertRoutes',
      summary:
        'The configured routes of alerts, in the order in which they are tried; the default is the last one',
      access: ALERT_READERS,
      answers: { 200: { description: 'The routes.', schema: ConfiguredRoutes } },
      read: () => ok(new JsonText(encodeRoutes({ routes: routing.routes.map(shownRoute) }))),
    }),
    route({
      method: 'GET',
      path: '/alerts/route',
      operation: 'explainAlertRoute',
      summary: 'Where an alert would go now if it were new: its routes, whom they notify, and when',
      description: 'Nothing is stored. Silences and inhibitions count as they are now.',
      access: ALERT_READERS,
      query: NewAlertQuery,
      answers: { 200: { description: 'The routes and the receivers.', schema: AlertRouteSchema } },
      read: async ({ query: { source, title = '', alarm_id, server_addr, severity } }) => {
        const texts = { source, title, alarmId: alarm_id ?? null, serverAddr: server_addr ?? null }
        const alert = { ...texts, weight: weightOf({ level: severity }), labels: null }
        const now = clock.now()
        const suppression = await readSuppression(store.read, alert, now)
        return ok(routeText(explainReport(alert, routing, now, suppression)))
      },
    }),
  ]
}

function receiverRoutes(receivers: Receivers): Route[] {
  return [
    route({
      method: 'GET',
      path: '/alerts/receivers',
      operation: 'listReceivers',
      summary: 'List the configured receivers of notifications, and whether they work, by name',
      access: ALERT_READERS,
      query: Fields(PageQuery),
      answers: { 200: { description: 'A page of receivers.', schema: PageOf(ReceiverSchema) } },
      read: async ({ query }) =>
        ok(encodePage(await receivers.list(parsePage(query, BY_NAME)), encodeReceiver)),
    }),
    route({
      method: 'POST',
      path: '/alerts/receivers/:name/test',
      operation: 'testReceiver',
      summary: 'Send a test message to a receiver',
      description: 'The message is sent at once by the api, beside what waits, and says that it is a test.',
      access: ALERT_OPERATORS,
      params: ReceiverParams,
      answers: { 200: { description: 'What the receiver has answered.', schema: ReceiverTest } },
      errors: { receiver_not_found },
      prepare: ({ params }) => receivers.test(params.name),
      audit: { kind: 'receiver' },
      change: async (tx, { params }, outcome) => {
        await receivers.recordTest(tx, params.name, outcome)
        return ok(new JsonText(encodeReceiverTest(outcome)))
      },
    }),
  ]
}

const DecisionSchema = Fields(
  {
    id: Id,
    at: Timestamp,
    occasion: OneOf(
      [...PLAIN_OCCASIONS, ...FREEZE_OCCASIONS, ...DAMPING_OCCASIONS],
      'Why people may have to be notified.',
    ),
    channel: Type.String({
      description: 'The receiver of the notification; `robot` for that of `alerts.robot`.',
      examples: ['robot', 'mail'],
    }),
    outcome: OneOf(
      OUTCOMES,
      '`sent` alone or `bundled` with others, `pending`, `failed` after 24 hours, or why it was suppressed.',
    ),
    reason: Nullable<string>({
      type: 'string',
      description: 'Names the silence, the inhibiting alert, the message or the error.',
    }),
    cause: CauseOf(DECISION_CAUSES, 'what `reason` says.'),
  },
  { $id: 'AlertDecision' },
)

const encodeDecision = encoderOf(DecisionSchema)

const ReceiverName = Type.String({ description: 'The name of a receiver.', examples: ['mail'] })

const ReceiverSchema = Fields(
  {
    name: ReceiverName,
    kind: Type.String({ description: 'The kind of a receiver.', examples: ['mail'] }),
    state: OneOf(['ok', 'failing'], '`failing` since its last attempt has failed by its own fault.'),
    last_success_at: NullableTimestamp,
    last_error: Nullable<string>({
      type: 'string',
      description: 'The error of the last failure, without credentials.',
    }),
    pending: Type.Integer({ minimum: 0, description: 'What waits for it, counted up to 100,000.' }),
  },
  { $id: 'Receiver' },
)

const encodeReceiver = encoderOf(ReceiverSchema)

const ReceiverParams = Fields({ name: Text({ minLength: 1, maxLength: 32 }) })

const ReceiverTest = Fields({
  delivered: Type.Boolean({ description: 'Whether the receiver has taken the message.' }),
  answer: Type.String({ description: 'What the other side has answered, or why it was not reached.' }),
})

const encodeReceiverTest = encoderOf(ReceiverTest)

const RoutedReceiverSchema = Fields({
  name: ReceiverName,
  at: NullableTimestamp,
  because: OneOf(
    ROUTE_REASONS,
    '`told`; `waiting` to be sent, or for the hours of the route (`outside_hours`); to be told by `escalation` or ' +
      '`repetition`; else the outcome for which it was not told.',
  ),
})

const RouteName = Type.Unsafe<string | number>({
  type: ['string', 'integer'],
  description: 'The name of a route, or its number from 1; `default` for the last one.',
})

const AlertRouteSchema = Fields({
  matched: Type.Array(RouteName),
  receivers: Type.Array(RoutedReceiverSchema),
})

export const encodeAlertRoute: (explanation: RouteExplanation) => string = encoderOf(AlertRouteSchema)
const routeText = bodyWriter(encodeAlertRoute)

const NewAlertQuery = Fields({
  source: Text({ minLength: 1, maxLength: 128, examples: ['platform.backup'] }),
  severity: OneOf(SEVERITIES, 'The severity of the alert.'),
  title: Type.Optional(Text({ maxLength: TITLE_LENGTH, examples: ['Backup failed'] })),
  alarm_id: Type.Optional(Text({ minLength: 1, maxLength: 128, examples: ['backup.failed'] })),
  server_addr: Type.Optional(Text({ minLength: 1, maxLength: 256, examples: ['192.0.2.10'] })),
})

const ReceiverNames = Type.Array(ReceiverName)
const Seconds = (description: string) => Type.Integer({ minimum: 1, description })

const RouteHours = Fields({
  days: Type.Array(OneOf(WEEKDAYS)),
  from: Type.String({ description: '`HH:MM`.', examples: ['08:00'] }),
  to: Type.String({ description: '`HH:MM`, of the next day if it is before `from`.', examples: ['20:00'] }),
  time_zone: Type.String({ description: 'The time zone of the hours.', examples: ['Europe/Berlin'] }),
  critical: Type.Boolean({ description: 'Whether CRITICAL waits for them, too.' }),
})

const RouteSchema = Fields(
  {
    name: RouteName,
    match: Fields(
      {
        source: Type.Optional(Type.String()),
        alarm_id: Type.Optional(Type.String()),
        server_addr: Type.Optional(Type.String()),
        title: Type.Optional(Type.String()),
      },
      { description: 'Exact texts, or prefixes that end in `*`; all of them must match.' },
    ),
    min_severity: Nullable<string>({
      type: 'string',
      description: 'Less severe alerts are told to nobody by this route; null for none.',
    }),
    receivers: ReceiverNames,
    repeat_every_seconds: Nullable<number>({
      type: 'integer',
      description: 'How long an alert fires until it is told again; null for never.',
    }),
    escalate: Type.Array(
      Fields({ after_seconds: Seconds('The time since the first notification.'), receivers: ReceiverNames }),
      { description: 'Who is told of an alert that nobody has acknowledged.' },
    ),
    hours: Nullable<Static<typeof RouteHours>>({
      ...RouteHours,
      description: 'Outside of them alerts are kept; null for none.',
    }),
    continue: Type.Boolean({ description: 'Whether the next route that matches decides, too.' }),
  },
  { $id: 'AlertRoute' },
)

const ConfiguredRoutes = Fields({ routes: Type.Array(RouteSchema) })

const encodeRoutes = encoderOf(ConfiguredRoutes)

function shownRoute({ matchers, minWeight, repeatEveryMs, escalate, hours, ...others }: AlertRoute) {
  return {
    ...others,
    match: matchers,
    minSeverity: minWeight === 0 ? null : severityOf(minWeight),
    repeatEverySeconds: repeatEveryMs === undefined ? null : repeatEveryMs / SECOND,
    escalate: escalate.map(({ afterMs, receivers }) => ({ afterSeconds: afterMs / SECOND, receivers })),
    hours: hours ?? null,
  }
}
