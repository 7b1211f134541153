import { JsonText } from '../../../kernel/json-text.ts'
import { SHARED_ERRORS } from '../../../wire/error-codes.ts'
import { encodePage, parsePage } from '../../../wire/page.ts'
import { created, ok, route, type Route } from '../../../wire/route.ts'
import { IdParams } from '../../../wire/schemas.ts'
import { ALERT_OPERATORS } from '../access.ts'
import { ALERT_ERRORS } from '../errors.ts'
import {
  encodeSilence,
  encodeWithWindows,
  fromSilenceBody,
  NewSilenceBody,
  SilencePage,
  SilenceQuery,
  SilenceSchema,
  SilenceWithWindows,
} from './schemas.ts'
import type { Silences } from './service.ts'

/** Also of the events. */
export const SILENCE_READERS = ['admin', 'devops', 'auditor'] as const

const { silence_not_found } = ALERT_ERRORS
const { forbidden_variable } = SHARED_ERRORS

/** docs/specification.md, HTTP API */
export function silenceRoutes(silences: Silences): Route[] {
  return [
    route({
      method: 'POST',
      path: '/alerts/silences',
      operation: 'createSilence',
      tag: 'Alerts',
      summary: 'Silence alerts for some time',
      description:
        'Notifications of the matching alerts are suppressed from `starts_at` until `ends_at`, or meanwhile in the hours of ' +
        '`repeat`; the alerts are stored and listed as ever. When the silence or one of its windows ends, alerts that still ' +
        'fire and were never notified are notified.',
      access: ALERT_OPERATORS,
      body: NewSilenceBody,
      answers: { 201: { description: 'The new silence.', schema: SilenceSchema } },
      errors: { forbidden_variable },
      prepare: ({ body }) => fromSilenceBody(body),
      audit: { kind: 'silence' },
      change: async (tx, { identity }, wanted) => {
        const silence = await silences.create(tx, wanted, identity.id)
        return created('/alerts/silences', silence.id, new JsonText(encodeSilence(silence)))
      },
    }),
    route({
      method: 'GET',
      path: '/alerts/silences',
      operation: 'listSilences',
      tag: 'Alerts',
      summary: 'List silences, newest first',
      access: SILENCE_READERS,
      query: SilenceQuery,
      answers: { 200: { description: 'A page of silences.', schema: SilencePage } },
      read: async ({ query }) =>
        ok(encodePage(await silences.list(query.state, parsePage(query)), encodeSilence)),
    }),
    route({
      method: 'GET',
      path: '/alerts/silences/:id',
      operation: 'getSilence',
      tag: 'Alerts',
      summary: 'Read one silence',
      access: SILENCE_READERS,
      params: IdParams,
      answers: { 200: { description: 'The silence, with its next windows.', schema: SilenceWithWindows } },
      errors: { silence_not_found },
      read: async ({ params }) => {
        const silence = await silences.get(params.id)
        return ok(new JsonText(encodeWithWindows({ ...silence, windows: silences.windows(silence) })))
      },
    }),
    route({
      method: 'DELETE',
      path: '/alerts/silences/:id',
      operation: 'endSilence',
      tag: 'Alerts',
      summary: 'End a silence now',
      description: 'A silence that has ended stays as it is.',
      access: ALERT_OPERATORS,
      params: IdParams,
      answers: { 204: { description: 'The silence has ended.' } },
      errors: { silence_not_found },
      audit: {
        kind: 'silence',
        before: async (tx, { params }) => new JsonText(encodeSilence(await silences.get(params.id, tx))),
      },
      change: async (tx, { params, identity }) => {
        await silences.end(tx, params.id, identity.id)
        return { status: 204 }
      },
    }),
  ]
}
