import { encodePage, parsePage, TimedPageQuery } from '../../../wire/page.ts'
import { ok, route, type Route } from '../../../wire/route.ts'
import { Fields, IdParams } from '../../../wire/schemas.ts'
import { ALERT_READERS } from '../access.ts'
import { ALERT_ERRORS } from '../errors.ts'
import type { Alerts } from '../service.ts'
import type { Notifier } from './notifier.ts'
import { DecisionPage, encodeDecision } from './schemas.ts'

const { alert_not_found } = ALERT_ERRORS

/** docs/specification.md, Alert notifications */
export function notificationRoutes(alerts: Pick<Alerts, 'get'>, notifier: Pick<Notifier, 'list'>): Route[] {
  return [
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
