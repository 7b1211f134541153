import { parsePage, toPage } from '../../wire/page.ts'
import { created, ok, route, type Route } from '../../wire/route.ts'
import { IdParams } from '../../wire/schemas.ts'
import {
  AlertPage,
  AlertQuery,
  AlertSchema,
  fromAlertQuery,
  fromReportBody,
  ReportBody,
  toAlertWire,
} from './schemas.ts'
import type { Alerts } from './service.ts'

const REPORTERS = ['admin', 'service', 'devops'] as const
const READERS = ['admin', 'devops', 'auditor', 'service'] as const
const KEEPERS = ['admin', 'devops'] as const

/** contract, section 3: Operations */
export function alertRoutes(alerts: Alerts): Route[] {
  return [
    route({
      method: 'POST',
      path: '/alerts/report',
      operation: 'reportAlert',
      tag: 'Alerts',
      summary: 'Report an alert',
      description:
        'An alert is known by its `alarm_id`, else by source, title and server address. A report of one that fires ' +
        'counts; of one that has recovered, it fires again; `CLOSE`, level 5 or weight 0 recover it.',
      access: REPORTERS,
      body: ReportBody,
      answers: {
        201: { description: 'The new alert.', schema: AlertSchema },
        200: { description: 'The alert was known; as it is now.', schema: AlertSchema },
      },
      errors: ['forbidden_variable', 'idempotency_key_reused'],
      handle: async ({ body }) => {
        const { alert, outcome } = await alerts.report(fromReportBody(body))
        return outcome === 'new' ? created(toAlertWire(alert)) : ok(toAlertWire(alert))
      },
    }),
    route({
      method: 'GET',
      path: '/alerts',
      operation: 'listAlerts',
      tag: 'Alerts',
      summary: 'List alerts, newest first',
      description: 'A name as `level` asks for the severity, a number for the internal level.',
      access: READERS,
      query: AlertQuery,
      answers: { 200: { description: 'A page of alerts.', schema: AlertPage } },
      handle: async ({ query }) =>
        ok(toPage(await alerts.list(fromAlertQuery(query), parsePage(query)), toAlertWire)),
    }),
    route({
      method: 'GET',
      path: '/alerts/:id',
      operation: 'getAlert',
      tag: 'Alerts',
      summary: 'Read one alert',
      access: READERS,
      params: IdParams,
      answers: { 200: { description: 'The alert.', schema: AlertSchema } },
      errors: ['alert_not_found'],
      handle: async ({ params }) => ok(toAlertWire(await alerts.get(params.id))),
    }),
    route({
      method: 'POST',
      path: '/alerts/:id/recover',
      operation: 'recoverAlert',
      tag: 'Alerts',
      summary: 'Declare an alert recovered',
      description: 'One that has recovered already stays as it is.',
      access: KEEPERS,
      params: IdParams,
      answers: { 200: { description: 'The alert, recovered.', schema: AlertSchema } },
      errors: ['alert_not_found', 'idempotency_key_reused'],
      handle: async ({ params, identity }) => ok(toAlertWire(await alerts.recover(params.id, identity.id))),
    }),
  ]
}
