import { ok, type Route, routeOf } from '../../../wire/route.ts'
import { SHARED_ERRORS } from '../../../wire/error-codes.ts'
import { IdParams } from '../../../wire/schemas.ts'
import { ALERT_OPERATORS, ALERT_READERS } from '../model.ts'
import { ALERT_ERRORS } from '../schemas.ts'
import { SILENCE_READERS } from '../silences/routes.ts'
import type { Silences } from '../silences/service.ts'
import {
  AlertmanagerAlerts,
  AlertmanagerGroups,
  AlertmanagerQuery,
  AlertmanagerReceivers,
  AlertmanagerSilence,
  AlertmanagerSilences,
  AlertmanagerStatus,
  fromAlertmanagerQuery,
  fromAlertmanagerSilence,
  fromFilter,
  NewAlertmanagerSilence,
  NoQuery,
  SilenceCreated,
  SilencesQuery,
} from './schemas.ts'
import type { Alertmanager } from './service.ts'

const route = routeOf('Alerts')

const { silence_not_found } = ALERT_ERRORS
const { forbidden_variable } = SHARED_ERRORS

/** docs/specification.md, Prometheus and Alertmanager */
export function alertmanagerRoutes(alertmanager: Alertmanager, silences: Silences): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/v2/status',
      operation: 'getAlertmanagerStatus',
      summary: 'The status, as that of an Alertmanager',
      access: ALERT_READERS,
      query: NoQuery,
      answers: { 200: { description: 'Version and receivers.', schema: AlertmanagerStatus } },
      read: () => ok(alertmanager.status()),
    }),
    route({
      method: 'GET',
      path: '/api/v2/receivers',
      operation: 'listAlertmanagerReceivers',
      summary: 'The names of the receivers, as those of an Alertmanager',
      access: ALERT_READERS,
      query: NoQuery,
      answers: { 200: { description: 'The receivers.', schema: AlertmanagerReceivers } },
      read: () => ok(alertmanager.receivers()),
    }),
    route({
      method: 'GET',
      path: '/api/v2/alerts',
      operation: 'listAlertmanagerAlerts',
      summary: 'The alerts that have not recovered, as an Alertmanager shows them',
      description: 'Newest first; at most 8 MiB.',
      access: ALERT_READERS,
      query: AlertmanagerQuery,
      answers: { 200: { description: 'The alerts.', schema: AlertmanagerAlerts } },
      read: async ({ query }) => ok(await alertmanager.alerts(fromAlertmanagerQuery(query))),
    }),
    route({
      method: 'GET',
      path: '/api/v2/alerts/groups',
      operation: 'listAlertmanagerGroups',
      summary: 'The same alerts, grouped by their sources',
      access: ALERT_READERS,
      query: AlertmanagerQuery,
      answers: { 200: { description: 'The groups.', schema: AlertmanagerGroups } },
      read: async ({ query }) => ok(await alertmanager.groups(fromAlertmanagerQuery(query))),
    }),
    ...silenceRoutesOf(alertmanager, silences),
  ]
}

function silenceRoutesOf(alertmanager: Alertmanager, silences: Silences): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/v2/silences',
      operation: 'listAlertmanagerSilences',
      summary: 'The silences, as an Alertmanager shows them',
      description:
        'Those that have not ended, then those that have ended within five days. One that repeats has the times of its current ' +
        'or next window.',
      access: SILENCE_READERS,
      query: SilencesQuery,
      answers: { 200: { description: 'The silences.', schema: AlertmanagerSilences } },
      read: async ({ query }) => ok(await alertmanager.silences(fromFilter(query.filter))),
    }),
    route({
      method: 'POST',
      path: '/api/v2/silences',
      operation: 'postAlertmanagerSilence',
      summary: 'Silence alerts by their labels, as a client of an Alertmanager does',
      description:
        'With the `id` of a silence that one ends, and the new one has another id. Regular expressions are those of RE2, with at ' +
        'most 1,000 instructions.',
      access: ALERT_OPERATORS,
      query: NoQuery,
      body: NewAlertmanagerSilence,
      answers: { 200: { description: 'The id of the new silence.', schema: SilenceCreated } },
      errors: { silence_not_found, forbidden_variable },
      prepare: ({ body }) => fromAlertmanagerSilence(body),
      audit: { kind: 'silence', id: (_request, answer) => (answer as { silenceID: string }).silenceID },
      change: async (tx, { identity }, { id: replaced, ...wanted }) => {
        if (replaced !== undefined) await silences.end(tx, replaced, identity.id)
        const { id } = await silences.create(tx, wanted, identity.id)
        return ok({ silenceID: id })
      },
    }),
    route({
      method: 'GET',
      path: '/api/v2/silence/:id',
      operation: 'getAlertmanagerSilence',
      summary: 'Read one silence, as an Alertmanager shows it',
      access: SILENCE_READERS,
      query: NoQuery,
      params: IdParams,
      answers: { 200: { description: 'The silence.', schema: AlertmanagerSilence } },
      errors: { silence_not_found },
      read: async ({ params }) => ok(await alertmanager.silence(await silences.get(params.id))),
    }),
    route({
      method: 'DELETE',
      path: '/api/v2/silence/:id',
      operation: 'deleteAlertmanagerSilence',
      summary: 'End a silence now, as a client of an Alertmanager does',
      access: ALERT_OPERATORS,
      query: NoQuery,
      params: IdParams,
      answers: { 200: { description: 'The silence has ended.' } },
      errors: { silence_not_found },
      audit: { kind: 'silence' },
      change: async (tx, { params, identity }) => {
        await silences.end(tx, params.id, identity.id)
        return ok(undefined)
      },
    }),
  ]
}
