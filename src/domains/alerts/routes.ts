import { bodyWriter } from '../../wire/codec.ts'
import { SHARED_ERRORS } from '../../wire/error-codes.ts'
import { encodePage, parsePage } from '../../wire/page.ts'
import { created, ok, type Route, routeOf } from '../../wire/route.ts'
import { IdParams } from '../../wire/schemas.ts'
import { ALERT_OPERATORS, ALERT_READERS, ALERT_REPORTERS } from './model.ts'
import {
  ALERT_ERRORS,
  AcknowledgementBody,
  AlertHistoryPage,
  AlertHistoryQuery,
  AlertPage,
  AlertQuery,
  AlertSchema,
  alertOrder,
  encodeAlert,
  encodeHistoryEntry,
  fromAcknowledgementBody,
  fromAlertQuery,
  fromReportBody,
  ReportBody,
} from './schemas.ts'
import type { Alerts } from './service.ts'
import { reportedRows } from './store.ts'
import { OLDEST_FIRST } from '../../kernel/page.ts'

const route = routeOf('Alerts')

const textOf = bodyWriter(encodeAlert)

const { alert_not_found } = ALERT_ERRORS
const { forbidden_variable, invalid_transition } = SHARED_ERRORS

/** docs/specification.md, HTTP API */
export function alertRoutes(alerts: Alerts): Route[] {
  return [
    route({
      method: 'POST',
      path: '/alerts/report',
      operation: 'reportAlert',
      summary: 'Report an alert',
      description:
        'An alert is identified by its `alarm_id`, else by source, title and server address. A report of a firing ' +
        'alert increments its count, one of a recovered alert makes it fire again; `CLOSE`, level 5 or weight 0 ' +
        'recover it.',
      access: ALERT_REPORTERS,
      body: ReportBody,
      answers: {
        201: { description: 'The new alert.', schema: AlertSchema },
        200: { description: 'The existing alert, after this report.', schema: AlertSchema },
      },
      errors: { forbidden_variable },
      prepare: ({ body }) => fromReportBody(body),
      touches: (_request, report) => reportedRows(report),
      change: async (tx, { identity }, report) => {
        const { alert, outcome } = await alerts.report(tx, report, identity.id)
        return outcome === 'new' ? created('/alerts', alert.id, textOf(alert)) : ok(textOf(alert))
      },
    }),
    route({
      method: 'GET',
      path: '/alerts',
      operation: 'listAlerts',
      summary: 'List alerts, newest first or by their severity',
      description:
        '`level` filters by severity if it is a name, and by internal level if it is a number; such a list is always newest first.',
      access: ALERT_READERS,
      query: AlertQuery,
      answers: { 200: { description: 'A page of alerts.', schema: AlertPage } },
      read: async ({ query }) =>
        ok(
          encodePage(
            await alerts.list(fromAlertQuery(query), parsePage(query, alertOrder(query))),
            encodeAlert,
          ),
        ),
    }),
    route({
      method: 'GET',
      path: '/alerts/:id',
      operation: 'getAlert',
      summary: 'Read one alert',
      access: ALERT_READERS,
      params: IdParams,
      answers: { 200: { description: 'The alert.', schema: AlertSchema } },
      errors: { alert_not_found },
      read: async ({ params }) => ok(textOf(await alerts.get(params.id))),
    }),
    route({
      method: 'GET',
      path: '/alerts/:id/history',
      operation: 'getAlertHistory',
      summary: 'The changes of one alert, oldest first',
      description:
        'Every change of its status, and every increase of its weight. Repeated reports are not listed.',
      access: ALERT_READERS,
      params: IdParams,
      query: AlertHistoryQuery,
      answers: {
        200: { description: 'A page of changes, from the first report on.', schema: AlertHistoryPage },
      },
      errors: { alert_not_found },
      read: async ({ params, query }) =>
        ok(encodePage(await alerts.history(params.id, parsePage(query, OLDEST_FIRST)), encodeHistoryEntry)),
    }),
    ...operatorRoutes(alerts),
  ]
}

function operatorRoutes(alerts: Alerts): Route[] {
  return [
    route({
      method: 'POST',
      path: '/alerts/:id/recover',
      operation: 'recoverAlert',
      summary: 'Declare an alert recovered',
      description: 'This also ends a freeze. An alert that is already recovered stays unchanged.',
      access: ALERT_OPERATORS,
      params: IdParams,
      answers: { 200: { description: 'The alert, recovered.', schema: AlertSchema } },
      errors: { alert_not_found },
      audit: { kind: 'alert', before: async (tx, { params }) => textOf(await alerts.get(params.id, tx)) },
      change: async (tx, { params, identity }) =>
        ok(textOf(await alerts.recover(tx, params.id, identity.id))),
    }),
    route({
      method: 'POST',
      path: '/alerts/:id/acknowledge',
      operation: 'acknowledgeAlert',
      summary: 'Acknowledge a firing alert',
      description:
        'Its notifications are suppressed until the acknowledgement lapses (`alerts.acknowledge_for`), it is reported ' +
        'with a higher weight, or it recovers. An alert that is already acknowledged stays unchanged.',
      access: ALERT_OPERATORS,
      params: IdParams,
      body: AcknowledgementBody,
      isBodyOptional: true,
      answers: { 200: { description: 'The alert, acknowledged.', schema: AlertSchema } },
      errors: { alert_not_found, forbidden_variable, invalid_transition },
      prepare: ({ body }) => fromAcknowledgementBody(body),
      audit: { kind: 'alert', before: async (tx, { params }) => textOf(await alerts.get(params.id, tx)) },
      change: async (tx, { params, identity }, comment) =>
        ok(textOf(await alerts.acknowledge(tx, params.id, comment, identity.id))),
    }),
    route({
      method: 'POST',
      path: '/alerts/:id/unfreeze',
      operation: 'unfreezeAlert',
      summary: 'End the freeze of an alert',
      description: 'The alert then has the state of its last report, and its swings are deleted.',
      access: ALERT_OPERATORS,
      params: IdParams,
      answers: { 200: { description: 'The alert, not frozen.', schema: AlertSchema } },
      errors: { alert_not_found, invalid_transition },
      audit: { kind: 'alert', before: async (tx, { params }) => textOf(await alerts.get(params.id, tx)) },
      change: async (tx, { params, identity }) =>
        ok(textOf(await alerts.unfreeze(tx, params.id, identity.id))),
    }),
  ]
}
