import type { Clock } from '../../../kernel/clock.ts'
import { JsonText } from '../../../kernel/json-text.ts'
import { encodePage, parsePage, TimedPageQuery } from '../../../wire/page.ts'
import { ok, route, type Route } from '../../../wire/route.ts'
import { Fields, IdParams } from '../../../wire/schemas.ts'
import { ALERT_OPERATORS, ALERT_READERS } from '../access.ts'
import { ALERT_ERRORS } from '../errors.ts'
import type { Store } from '../../../store/store.ts'
import type { Alerts } from '../service.ts'
import type { Notifier } from './notifier.ts'
import { explainAlert } from './explain.ts'
import { BY_NAME, type Receivers } from './receivers.ts'
import type { Routing } from './routing.ts'
import {
  AlertRouteSchema,
  DecisionPage,
  encodeAlertRoute,
  encodeDecision,
  encodeReceiver,
  encodeReceiverTest,
  ReceiverPage,
  ReceiverParams,
  ReceiverQuery,
  ReceiverTest,
} from './schemas.ts'

const { alert_not_found, receiver_not_found } = ALERT_ERRORS

export interface NotificationRouteDeps {
  readonly alerts: Pick<Alerts, 'get'>
  readonly notifier: Pick<Notifier, 'list'>
  readonly receivers: Receivers
  readonly routing: Routing
  readonly store: Store
  readonly clock: Clock
}

/** docs/specification.md, Alert notifications */
export function notificationRoutes({
  alerts,
  notifier,
  receivers,
  routing,
  store,
  clock,
}: NotificationRouteDeps): Route[] {
  return [
    ...receiverRoutes(receivers),
    route({
      method: 'GET',
      path: '/alerts/:id/route',
      operation: 'getAlertRoute',
      tag: 'Alerts',
      summary: 'The routes of an alert, and whom they notify when',
      access: ALERT_READERS,
      params: IdParams,
      answers: { 200: { description: 'The routes and the receivers.', schema: AlertRouteSchema } },
      errors: { alert_not_found },
      read: async ({ params }) => {
        const alert = await alerts.get(params.id)
        return ok(
          new JsonText(
            encodeAlertRoute(await explainAlert(store.read, alert, { routing, now: clock.now() })),
          ),
        )
      },
    }),
    route({
      method: 'GET',
      path: '/alerts/:id/decisions',
      operation: 'listAlertDecisions',
      tag: 'Alerts',
      summary: 'List the decisions on the notifications of an alert, newest first',
      description:
        'Each occasion, such as a rise or a recovery, has one decision. Repeated reports have none.',
      access: ALERT_READERS,
      params: IdParams,
      query: Fields(TimedPageQuery),
      answers: { 200: { description: 'A page of decisions.', schema: DecisionPage } },
      errors: { alert_not_found },
      read: async ({ params, query }) => {
        const page = parsePage(query)
        const { id } = await alerts.get(params.id)
        return ok(encodePage(await notifier.list(id, page), encodeDecision))
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
      tag: 'Alerts',
      summary: 'List the configured receivers of notifications, and whether they work, by name',
      access: ALERT_READERS,
      query: ReceiverQuery,
      answers: { 200: { description: 'A page of receivers.', schema: ReceiverPage } },
      read: async ({ query }) =>
        ok(encodePage(await receivers.list(parsePage(query, BY_NAME)), encodeReceiver)),
    }),
    route({
      method: 'POST',
      path: '/alerts/receivers/:name/test',
      operation: 'testReceiver',
      tag: 'Alerts',
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
