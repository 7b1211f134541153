import { bodyWriter } from '../../wire/codec.ts'
import type { ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, parsePage } from '../../wire/page.ts'
import { created, ok, route, type Route } from '../../wire/route.ts'
import { IdParams } from '../../wire/schemas.ts'
import {
  AlertPage,
  AlertQuery,
  AlertSchema,
  encodeAlert,
  fromAlertQuery,
  fromReportBody,
  ReportBody,
} from './schemas.ts'
import type { Alerts } from './service.ts'

const textOf = bodyWriter(encodeAlert)

const REPORTERS = ['admin', 'service', 'devops'] as const
/** Of the list, and of the events. */
export const ALERT_READERS = ['admin', 'devops', 'auditor', 'service'] as const
const OPERATORS = ['admin', 'devops'] as const

export const ALERT_ERRORS = {
  alert_not_found: { status: 404, meaning: 'There is no such alert.' },
  forbidden_variable: { status: 400, meaning: 'The text contains a variable that is not allowed in alerts.' },
} as const satisfies ErrorCodes

const { alert_not_found, forbidden_variable } = ALERT_ERRORS

/** docs/specification.md, HTTP API */
export function alertRoutes(alerts: Alerts): Route[] {
  return [
    route({
      method: 'POST',
      path: '/alerts/report',
      operation: 'reportAlert',
      tag: 'Alerts',
      summary: 'Report an alert',
      description:
        'An alert is identified by its `alarm_id`, else by source, title and server address. A report of a firing ' +
        'alert increments its count, one of a recovered alert makes it fire again; `CLOSE`, level 5 or weight 0 ' +
        'recover it.',
      access: REPORTERS,
      body: ReportBody,
      answers: {
        201: { description: 'The new alert.', schema: AlertSchema },
        200: { description: 'The existing alert, after this report.', schema: AlertSchema },
      },
      errors: { forbidden_variable },
      prepare: ({ body }) => fromReportBody(body),
      change: async (tx, { identity }, report) => {
        const { alert, outcome } = await alerts.report(tx, report, identity.id)
        return outcome === 'new' ? created(textOf(alert)) : ok(textOf(alert))
      },
    }),
    route({
      method: 'GET',
      path: '/alerts',
      operation: 'listAlerts',
      tag: 'Alerts',
      summary: 'List alerts, newest first',
      description: '`level` filters by severity if it is a name, and by internal level if it is a number.',
      access: ALERT_READERS,
      query: AlertQuery,
      answers: { 200: { description: 'A page of alerts.', schema: AlertPage } },
      read: async ({ query }) =>
        ok(encodePage(await alerts.list(fromAlertQuery(query), parsePage(query)), encodeAlert)),
    }),
    route({
      method: 'GET',
      path: '/alerts/:id',
      operation: 'getAlert',
      tag: 'Alerts',
      summary: 'Read one alert',
      access: ALERT_READERS,
      params: IdParams,
      answers: { 200: { description: 'The alert.', schema: AlertSchema } },
      errors: { alert_not_found },
      read: async ({ params }) => ok(textOf(await alerts.get(params.id))),
    }),
    route({
      method: 'POST',
      path: '/alerts/:id/recover',
      operation: 'recoverAlert',
      tag: 'Alerts',
      summary: 'Declare an alert recovered',
      description: 'An alert that is already recovered stays unchanged.',
      access: OPERATORS,
      params: IdParams,
      answers: { 200: { description: 'The alert, recovered.', schema: AlertSchema } },
      errors: { alert_not_found },
      change: async (tx, { params, identity }) =>
        ok(textOf(await alerts.recover(tx, params.id, identity.id))),
    }),
  ]
}
